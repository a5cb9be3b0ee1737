import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { notify } from '../ui/notices.tsx';
import type { Action } from './actions.ts';
import type { ActionRequest } from './plans/plan.ts';
import { MAX_NAMED } from './sending.ts';
import type { Target } from './targets.ts';
import { sendRequests } from './use-sending.ts';

interface Done {
  action: Action;
  targets: readonly Target[];
  undo: readonly ActionRequest[] | null;
}

/**
 * Where an action leads: to its activity, or to all of them. What starts no activity is done already: it leads back to where the
 * person came from, with a message that offers the inverse.
 */
export function useFinish({ action, targets, undo }: Done): (ids: readonly number[], isResumed: boolean) => void {
  const navigate = useNavigate();
  const goBack = useGoBack();
  const queryClient = useQueryClient();
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  const refresh = () =>
    Promise.all(['computers', 'computer'].map((about) => queryClient.invalidateQueries({ queryKey: [about] })));
  return (ids, isResumed) => {
    if (!isShown.current) return;
    const [first] = ids;
    if (first === undefined) {
      void refresh();
      // What a computer had before the first request was only known before the page was loaded again.
      notify(noticeOf(action, targets, isResumed ? null : undo, refresh));
      // The page that one comes from may be that of a computer which exists no more.
      if (action.id === 'delete') void navigate({ to: '/computers', replace: true });
      else goBack();
    } else if (ids.length === 1) {
      void navigate({ to: '/activities/$activityId', params: { activityId: String(first) }, replace: true });
    } else {
      const query = ids.length > MAX_NAMED ? undefined : ids.map((id) => `id:${id}`).join(' OR ');
      void navigate({ to: '/activities', search: { query }, replace: true });
    }
  };
}

/** Goes back to the page before, or to Computers when this is the first. */
export function useGoBack(): () => void {
  const navigate = useNavigate();
  const { history } = useRouter();
  return () => {
    if (history.canGoBack()) history.back();
    else void navigate({ to: '/computers', replace: true });
  };
}

function noticeOf(
  { label }: Action,
  targets: readonly Target[],
  undo: readonly ActionRequest[] | null,
  refresh: () => Promise<unknown>,
) {
  const [first] = targets;
  const on = targets.length === 1 && first ? first.title : `${targets.length.toLocaleString()} computers`;
  const text = `${label}: done on ${on}.`;
  if (!undo || undo.length === 0) return { text };
  const run = async () => {
    await sendRequests(undo);
    await refresh();
  };
  return { text, action: { label: 'Undo', run, done: `${label}: undone on ${on}.` } };
}
