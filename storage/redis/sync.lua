-- One call of an instance: what it tells is merged, leases are given and taken
-- back, and what has changed since its cursor is returned. All of it depends on
-- the arguments and the keys only; storage.Known.Merge has the same rules in Go.
-- Times are texts of sixteen digits, since numbers here are doubles.
local prefix = KEYS[1]
local q = cjson.decode(ARGV[1])
local day = 86400000
local meta, changes, instances = prefix .. 'meta', prefix .. 'changes', prefix .. 'instances'

redis.call('HSETNX', meta, 'life', ARGV[2])
redis.call('HSETNX', meta, 'salt', q.salt)
if redis.call('HGET', meta, 'salt') ~= q.salt then return {'salt'} end
local life = redis.call('HGET', meta, 'life')

-- A caller who has seen more than there is comes from before a failover, in which
-- the last changes were lost: everybody is to tell everything again.
local cursor = q.cursor
if q.life == life and cursor > tonumber(redis.call('HGET', meta, 'version') or '0') then
  life = ARGV[2]
  redis.call('HSET', meta, 'life', life)
end
if q.life ~= life then cursor = 0 end

-- note counts a change. Where the caller had seen all that was before, there is
-- nothing to be returned to it: it knows what it has told.
local told, own = false, {}
local function note(member)
  local before = redis.call('ZSCORE', changes, member)
  own[member] = own[member] or not before or tonumber(before) <= cursor
  redis.call('ZADD', changes, redis.call('HINCRBY', meta, 'version', 1), member)
  told = true
end

local function compare(a, b)
  if a ~= b then return a < b and -1 or 1 end
  return 0
end

local function same(k, p)
  local c = compare(k.a, p.a)
  if c == 0 then c = compare(k.s or '', p.s or '') end
  if c == 0 then c = compare(k.u, p.u) end
  if c == 0 then c = compare(k.o or 0, p.o or 0) end
  if c == 0 then c = compare(k.w or 0, p.w or 0) end
  if c == 0 then c = compare(k.c or '', p.c or '') end
  return c
end

-- unite adds misses that are newer than the last success; true if one of them is
-- among those that are kept.
local function unite(list, more, after)
  local seen, all = {}, {}
  local function add(misses, new)
    for _, m in ipairs(misses) do
      local name = m.t .. m.i
      if m.t > after and seen[name] == nil then
        seen[name] = new; all[#all + 1] = m
      end
    end
  end
  add(list, false)
  add(more, true)
  table.sort(all, function(a, b) return a.t < b.t or a.t == b.t and a.i < b.i end)
  while #all > 64 do table.remove(all, 1) end
  for _, m in ipairs(all) do
    if seen[m.t .. m.i] then return all, true end
  end
  return all, false
end

local function addUp(list, more)
  local by, all = {}, {}
  for _, c in ipairs(list) do by[c.t] = c; all[#all + 1] = c end
  for _, c in ipairs(more) do
    local sum = by[c.t]
    if sum then
      sum.s, sum.f = sum.s + c.s, sum.f + c.f
    else
      by[c.t] = c; all[#all + 1] = c
    end
  end
  table.sort(all, function(a, b) return a.t < b.t end)
  while #all > 16 do table.remove(all, 1) end
  return all
end

-- merge returns what is known now, and whether that is more than before.
local function merge(k, p)
  k = k or {id = p.id, a = '', u = '', k = ''}
  local order, new = same(k, p), false
  if order < 0 then k, p, new = p, k, true end
  if p.z and not k.z then k.z = true; new = true end
  if p.k > k.k then k.k = p.k; new = true end
  local misses, counts = {}, {}
  if order == 0 then misses, counts = p.f or {}, p.b or {} end
  local united, more = unite(k.f or {}, misses, k.k)
  k.f = #united > 0 and united or nil
  local sums = addUp(k.b or {}, counts)
  k.b = #sums > 0 and sums or nil
  return k, new or more or #counts > 0
end

for _, p in ipairs(q.known or {}) do
  local key = prefix .. 'p:' .. p.id
  local raw = redis.call('GET', key)
  local k, new = merge(raw and cjson.decode(raw), p)
  if new then
    local left = k.u ~= '' and (tonumber(k.u) - tonumber(q.now)) / 1000 or 0
    redis.call('SET', key, cjson.encode(k), 'PX', string.format('%.0f', day + math.max(0, left)))
    note('p:' .. p.id)
  end
end

for _, i in ipairs(q.items or {}) do
  local key = prefix .. 'i:' .. i.k
  local raw = redis.call('GET', key)
  local had = raw and cjson.decode(raw)
  if not had or had.a < i.a or had.a == i.a and had.x < i.x then
    redis.call('SET', key, cjson.encode(i), 'EX', i.l)
    note('i:' .. i.k)
  end
end

for _, id in ipairs(q.released or {}) do
  local key = prefix .. 'lease:' .. id
  if redis.call('GET', key) == q.me then redis.call('DEL', key) end
end

local leases = {}
for _, w in ipairs(q.leases or {}) do
  local key = prefix .. 'lease:' .. w.id
  local holder = redis.call('GET', key)
  if holder == q.me then
    redis.call('PEXPIRE', key, q.leasefor)
    leases[#leases + 1] = w.id
  elseif not holder then
    local raw = redis.call('GET', prefix .. 'p:' .. w.id)
    if not raw or cjson.decode(raw).a <= w.a then
      redis.call('SET', key, q.me, 'NX', 'PX', q.leasefor)
      leases[#leases + 1] = w.id
    end
  end
end

if told then
  redis.call('ZREMRANGEBYRANK', changes, 0, -500001)
  redis.call('PEXPIRE', changes, day)
  if redis.call('SET', prefix .. 'nudged', 1, 'NX', 'PX', q.gap) then
    redis.call('PUBLISH', prefix .. 'nudge', q.me)
  end
end

local ms = tonumber(q.now) / 1000
redis.call('ZADD', instances, string.format('%.0f', ms), q.me)
redis.call('ZREMRANGEBYSCORE', instances, '-inf', '(' .. string.format('%.0f', ms - 5000))
redis.call('PEXPIRE', instances, day)
redis.call('PEXPIRE', meta, day)

local top = tonumber(redis.call('HGET', meta, 'version') or '0')
local known, items = {}, {}
local found = redis.call('ZRANGEBYSCORE', changes, '(' .. string.format('%.0f', cursor), '+inf', 'WITHSCORES', 'LIMIT', 0, q.limit)
for i = 1, #found, 2 do
  local value = redis.call('GET', prefix .. found[i])
  if value and own[found[i]] then -- nothing new
  elseif value and found[i]:sub(1, 2) == 'p:' then
    known[#known + 1] = value
  elseif value then
    items[#items + 1] = value
  else
    redis.call('ZREM', changes, found[i])
  end
end
local more = #found == 2 * q.limit
cursor = more and tonumber(found[#found]) or top
return {life, string.format('%.0f', cursor), more and 1 or 0, redis.call('ZCARD', instances), leases, known, items}
