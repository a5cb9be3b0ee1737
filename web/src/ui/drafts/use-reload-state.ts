import { useEffect, useState } from 'react';

/** State of a view that survives a reload of the page, and ends when the person leaves the view. */
export function useReloadState<T>(key: string, initial: T): [value: T, set: (value: T) => void] {
  const name = `flotilla.view.${key}`;
  const [value, setValue] = useState<T>(() => read(name) ?? initial);
  useEffect(() => {
    sessionStorage.setItem(name, JSON.stringify(value));
  }, [name, value]);
  // A reload does not unmount anything.
  useEffect(() => () => sessionStorage.removeItem(name), [name]);
  return [value, setValue];
}

function read<T>(name: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null') as T | null;
  } catch {
    return null;
  }
}
