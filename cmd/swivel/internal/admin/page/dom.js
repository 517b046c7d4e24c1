// Elements from data. Data only ever becomes text or the value of an attribute
// that is named here, never markup.

const make = (create) => (tag, props = {}, ...children) => {
  const element = create(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};

export const h = make((tag) => document.createElement(tag));
export const svg = make((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
export const byId = (id) => document.getElementById(id);

// text changes an element only when it has to, so that what somebody has
// selected stays so, and nothing is read aloud twice.
export function text(element, value) {
  if (element.textContent !== value) element.textContent = value;
}

// debounced calls f once it has not been asked for so many milliseconds.
export function debounced(f, ms) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(f, ms);
  };
}
