import { useSyncExternalStore } from 'react';
import type { Targets } from './targets.ts';

/** The computers that the present page is about. */
export interface PresentSelection {
  targets: Targets;
  count: number;
}

let present: PresentSelection | null = null;
const listeners = new Set<() => void>();

/** Makes a selection known to the command palette. @returns a function that ends it */
export function showSelection(selection: PresentSelection): () => void {
  const set = (value: PresentSelection | null) => {
    present = value;
    for (const listener of listeners) listener();
  };
  set(selection);
  return () => present === selection && set(null);
}

/** The computers that the present page is about; null without any. */
export function usePresentSelection(): PresentSelection | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => present,
  );
}
