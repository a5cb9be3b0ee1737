import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { client } from '../api/client.ts';
import type { Step } from './plans/plan.ts';
import { type Sent, sendAll, Unanswered } from './sending.ts';

/** The requests of an action that is being done. */
interface Work {
  steps: readonly Step[];
  /** Activities that have been started. */
  ids: number[];
}

/** Sends the requests of a form once: not again for a second click, and not after a reload when the result is unknown. */
export function useSending(key: string, onDone: (ids: readonly number[]) => void) {
  const name = `flotilla.sent.${key}`;
  const [sent, setSent] = useState<Sent | null>(() => readSent(name));
  const [work, setWork] = useState<Work | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const isLocked = useRef(false);
  const save = (now: Sent | null) => {
    if (now === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, JSON.stringify(now));
    setSent(now);
  };
  const sending = useMutation({
    mutationFn: ({ steps, ids, from }: Work & { from: number }) => sendAll(steps, ids, from, { send: sendStep, save }),
    onSuccess(_, { ids }) {
      sessionStorage.removeItem(name);
      isLocked.current = false;
      onDone(ids);
    },
    onError(failure) {
      const isUnanswered = failure instanceof Unanswered;
      isLocked.current = isUnanswered;
      setError(isUnanswered ? null : failure);
    },
  });
  const go = (next: Work, from: number) => {
    if (isLocked.current) return;
    if (!navigator.onLine) return setError(new Error('This browser is offline. Nothing was sent.'));
    isLocked.current = true;
    setWork(next);
    sending.mutate({ ...next, from });
  };
  const accepted = sent?.accepted ?? 0;
  return {
    sent,
    work,
    /** The lock itself, for what happens between two renderings. */
    isLocked,
    isSending: sending.isPending,
    /** Of the last attempt, also during the next one: the form keeps its place meanwhile. */
    error,
    isUnanswered: sent?.isWaiting === true && !sending.isPending,
    /** Sends what a form describes; what was started before continues with the rest of it. */
    start: (steps: readonly Step[]) => (accepted > 0 && work ? go(work, accepted) : go({ steps, ids: [] }, 0)),
    /** Goes on without the request that was refused. */
    skip: () => work && go({ ...work, steps: work.steps.toSpliced(accepted, 1) }, accepted),
    /** Forgets what was sent. */
    reset() {
      isLocked.current = false;
      save(null);
      setWork(null);
      setError(null);
    },
  };
}

export type Sending = ReturnType<typeof useSending>;

async function sendStep({ method, path, body }: Step): Promise<number | null> {
  const { data } = await client.request(method, path, { body });
  const id = (data as { id?: unknown } | undefined)?.id;
  return typeof id === 'number' ? id : null;
}

/** Sends requests whose repetition changes nothing, such as those that bring back tags. @throws {ApiError} */
export async function sendSteps(steps: readonly Step[]): Promise<void> {
  for (const step of steps) await sendStep(step);
}

function readSent(name: string): Sent | null {
  const stored = sessionStorage.getItem(name);
  return stored === null ? null : (JSON.parse(stored) as Sent);
}
