import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { useLive } from '../../live/live.tsx';

/** Groups beyond this are counted less often. */
const LARGE = 2000;
const SOON_MS = 1000;
const LATER_MS = 5000;

/** Has the computers of an activity read again when one of them moves on, or every few seconds while it is open. */
export function useStoryRefresh(id: number, { size, isOpen }: { size: number; isOpen: boolean }): void {
  const queryClient = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const refresh = useCallback(() => {
    timer.current = null;
    void queryClient.invalidateQueries({ queryKey: ['story', id] });
  }, [queryClient, id]);
  useLive(({ data }) => {
    const ids = ['activity_id' in data && data.activity_id, 'operation_id' in data && data.operation_id];
    if (ids.includes(id)) timer.current ??= setTimeout(refresh, size > LARGE ? LATER_MS : SOON_MS);
  });
  useEffect(() => {
    if (!isOpen) return;
    const poll = setInterval(refresh, LATER_MS);
    return () => clearInterval(poll);
  }, [isOpen, refresh]);
  useEffect(() => () => clearTimeout(timer.current ?? undefined), []);
}
