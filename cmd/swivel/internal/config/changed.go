package config

import "reflect"

// Changed returns the keys that have another value in b than in a, as
// section.key, in the order of the file.
func Changed(a, b Config) (keys []string) {
	walk(reflect.ValueOf(a), "", func(key string, one reflect.Value, path []int) {
		if other := reflect.ValueOf(b).FieldByIndex(path); !equal(one, other) {
			keys = append(keys, key)
		}
	}, nil)
	return keys
}

// equal takes a list that is empty for one that is not there.
func equal(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// walk calls f with every key of a configuration or a section, and the path of
// its field.
func walk(v reflect.Value, prefix string, f func(key string, field reflect.Value, path []int), at []int) {
	for i := range v.NumField() {
		key := prefix + v.Type().Field(i).Tag.Get("yaml")
		path := append(at[:len(at):len(at)], i)
		if field := v.Field(i); isSection(field.Type()) {
			walk(field, key+".", f, path)
		} else {
			f(key, field, path)
		}
	}
}
