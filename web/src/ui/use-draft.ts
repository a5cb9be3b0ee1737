import { useCallback, useEffect, useState } from 'react';

/**
 * State of a form that survives a reload of the page and a lost session, until `clear` is called after it was sent. Never for
 * secrets: they would be readable by everyone who uses this browser.
 */
export function useDraft<T extends object>(key: string, initial: T) {
  const name = `flotilla.draft.${key}`;
  const [draft, setDraft] = useState<T>(() => ({ ...initial, ...read(name) }));
  const [isDirty, setDirty] = useState(() => sessionStorage.getItem(name) !== null);
  useEffect(() => {
    if (isDirty) sessionStorage.setItem(name, JSON.stringify(draft));
  }, [name, draft, isDirty]);
  const change = useCallback((changes: Partial<T>) => {
    setDirty(true);
    setDraft((old) => ({ ...old, ...changes }));
  }, []);
  const clear = useCallback(() => {
    setDirty(false);
    sessionStorage.removeItem(name);
  }, [name]);
  return { draft, change, clear, isDirty };
}

function read(name: string): object {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(name) ?? '{}');
    return typeof stored === 'object' && stored !== null ? stored : {};
  } catch {
    return {};
  }
}
