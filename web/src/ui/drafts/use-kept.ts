import { useCallback, useEffect, useRef, useState } from 'react';
import { dropKept, keep, readKept } from './kept.ts';

/**
 * State of a form that is too large for `useDraft`, such as files: it survives a reload of the page and a lost session, until
 * `clear` is called after it was sent. What does not fit is not kept.
 */
export function useKept<T>(key: string, initial: T, fits: (value: T) => boolean) {
  const name = `flotilla.kept.${key}`;
  const [value, setValue] = useState(initial);
  const isChanged = useRef(false);
  useEffect(() => {
    let isShown = true;
    void readKept<T>(name).then((kept) => {
      if (isShown && !isChanged.current && kept !== undefined) setValue(kept);
    });
    return () => {
      isShown = false;
    };
  }, [name]);
  const change = (next: T) => {
    isChanged.current = true;
    setValue(next);
    void (fits(next) ? keep(name, next) : dropKept(name));
  };
  const clear = useCallback(() => {
    isChanged.current = true;
    void dropKept(name);
  }, [name]);
  return { value, change, clear };
}
