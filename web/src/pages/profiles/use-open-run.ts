import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { OPEN_RUN_MS } from './queries.ts';
import type { ProfileKind } from './profile-types.ts';

/** Reads everything about a profile again and again while a run of it is open. */
export function useOpenRun(kind: ProfileKind, id: number, isOpen: boolean): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    if (!isOpen) return;
    const refresh = () => void queryClient.invalidateQueries({ queryKey: ['profile', kind, id] });
    const timer = setInterval(refresh, OPEN_RUN_MS);
    // The last counts arrive with the read that ends this.
    return () => {
      clearInterval(timer);
      refresh();
    };
  }, [queryClient, kind, id, isOpen]);
}
