import { ApiError } from '@flotilla/client';
import { useSyncExternalStore } from 'react';

let hasExpired = false;
const listeners = new Set<() => void>();

function set(value: boolean): void {
  if (hasExpired === value) return;
  hasExpired = value;
  for (const listener of listeners) listener();
}

/** When the server has refused the session, a dialog lets the person sign in again, and nothing on the page is lost. */
export function noticeExpiry(error: unknown): void {
  if (error instanceof ApiError && error.code === 'Unauthorized') set(true);
}

/** The person has signed in again. */
export const sessionRenewed = () => set(false);

/** Whether the server has refused the session. */
export function useSessionExpired(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => hasExpired,
  );
}
