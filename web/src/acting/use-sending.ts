import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { client } from '../api/client.ts';
import { dropKept, keep, readKept } from '../ui/drafts/kept.ts';
import type { ActionRequest } from './plans/plan.ts';
import { MAX_NAMED, type Sent, sendAll, Stopped, Unanswered } from './sending.ts';

/** The requests of an action that is being done. */
interface Work {
  requests: readonly ActionRequest[];
  /** Activities that have been started. */
  ids: number[];
  /** Computers that were refused, and why: collected once the person wants to go on without all of them. */
  refused?: Array<{ computer: NonNullable<ActionRequest['computer']>; reason: string }>;
  /** It was started before the page was loaded again. */
  isResumed?: boolean;
}

type OnDone = (ids: readonly number[], isResumed: boolean) => void;

/** What survives a reload at once; the requests themselves may be too many for that. */
type Stored = Sent & { ids: readonly number[] };

/**
 * Sends the requests of a form once: not again for a second click, and not by itself where the result is unknown. After a
 * reload, the rest of them can be sent.
 */
export function useSending(key: string, onDone: OnDone) {
  const progress = useProgress(`flotilla.sent.${key}`);
  const { sent, work } = progress;
  const { isSending, error, isLocked, isFree, go, unlock, stop, leave } = useRequests(progress, onDone);
  const accepted = sent?.accepted ?? 0;
  return {
    sent,
    work,
    isLocked,
    isSending,
    error,
    isUnanswered: sent?.isWaiting === true && !isSending,
    /** Some were accepted, and the rest was not sent. */
    hasRest: sent?.isWaiting === false && accepted > 0 && accepted < sent.total && !isSending,
    /** All requests have been sent, and some were refused. */
    isFinished: (work?.refused?.length ?? 0) > 0 && accepted === sent?.total && !isSending,
    /** What Continue sends; null where the requests are not known. */
    rest: () => work?.requests.slice(accepted + (sent?.isWaiting ? 1 : 0)) ?? null,
    /** Sends what a form describes. */
    start: (requests: readonly ActionRequest[]) => isFree() && go({ requests, ids: [] }, 0),
    /** Continues with the first request that is not known to be accepted. */
    resume: () => work && go(work, accepted),
    /** Continues without that one. */
    skip: () => work && go({ ...work, requests: work.requests.toSpliced(accepted, 1) }, accepted),
    /** Continues without any computer that is refused. The present one is sent once more, to be among them. */
    skipAll: () => work && go({ ...work, refused: [] }, accepted),
    /** Sends no request after the present one. */
    stop,
    /** Leads on from a form that names those that were refused. */
    finish: () => work && leave(work),
    /** Forgets what was sent. */
    reset() {
      progress.reset();
      unlock();
    },
  };
}

export type Sending = ReturnType<typeof useSending>;

/** Sends requests, unless some are being sent or all have been. */
function useRequests({ sent, work, setWork, save, forget, keepWork }: Progress, onDone: OnDone) {
  const [error, setError] = useState<Error | null>(null);
  const lock = useRef<'free' | 'sending' | 'unknown' | 'done'>(sent?.isWaiting ? 'unknown' : 'free');
  const hasLeft = useHasLeft();
  const isStopped = useRef(false);
  const leave = ({ ids, isResumed = false }: Work) => onDone(ids, isResumed);
  const sending = useMutation({
    mutationFn({ requests, ids, refused, from }: Work & { from: number }) {
      let kept = requests;
      const leaveOut = (left: ActionRequest, { message }: Error) => {
        refused!.push({ computer: left.computer!, reason: message });
        kept = kept.filter((request) => request !== left);
        keepWork(kept);
        setWork((old) => old && { ...old, requests: kept });
      };
      return sendAll(requests, ids, from, {
        send: sendRequest,
        save: (now) => save({ ...now, ids: ids.slice(0, MAX_NAMED + 1) }),
        isStopped: () => hasLeft() || isStopped.current,
        onRefused: refused ? leaveOut : null,
      });
    },
    onSuccess(_, done) {
      forget();
      // The form stays as it is until the page has changed: a second click is too late.
      lock.current = 'done';
      // Nothing else would name the computers that were left out.
      if (!done.refused?.length) leave(done);
    },
    onError(failure) {
      const isUnanswered = failure instanceof Unanswered;
      lock.current = isUnanswered ? 'unknown' : 'free';
      setError(isUnanswered || failure instanceof Stopped ? null : failure);
    },
  });
  const go = (next: Work, from: number) => {
    if (lock.current === 'sending' || lock.current === 'done') return;
    if (!navigator.onLine) return setError(new Error('This browser is offline. Nothing was sent.'));
    lock.current = 'sending';
    isStopped.current = false;
    if (next.requests !== work?.requests) keepWork(next.requests);
    setWork(next);
    sending.mutate({ ...next, from });
  };
  return {
    /** Of the last attempt, also during the next one: the form keeps its place meanwhile. */
    error,
    isSending: sending.isPending,
    /** Known at once, also between two renderings. */
    isLocked: () => lock.current === 'sending',
    isFree: () => lock.current === 'free',
    go,
    leave,
    stop() {
      isStopped.current = true;
    },
    unlock() {
      lock.current = 'free';
      setError(null);
    },
  };
}

/** How far the requests have come, and those that a reload interrupted. */
function useProgress(name: string) {
  const [sent, setSent] = useState<Stored | null>(() => readSent(name));
  const [work, setWork] = useState<Work | null>(null);
  const [interrupted] = useState(sent);
  const requestsName = `${name}.requests`;
  useEffect(() => {
    let isShown = true;
    if (!interrupted) return;
    const { ids, total } = interrupted;
    void readKept<readonly ActionRequest[]>(requestsName).then((requests) => {
      // Others would be those of an earlier attempt.
      if (!isShown || requests?.length !== total) return;
      setWork((present) => present ?? { requests: requests!, ids: [...ids], isResumed: true });
    });
    return () => {
      isShown = false;
    };
  }, [requestsName, interrupted]);
  const save = (now: Stored) => {
    sessionStorage.setItem(name, JSON.stringify(now));
    setSent(now);
  };
  const forget = () => {
    sessionStorage.removeItem(name);
    void dropKept(requestsName);
  };
  const reset = () => {
    forget();
    setSent(null);
    setWork(null);
  };
  const keepWork = (requests: readonly ActionRequest[]) => void keep(requestsName, requests);
  return { sent, work, setWork, save, forget, reset, keepWork };
}

type Progress = ReturnType<typeof useProgress>;

/** A function that returns whether the person has left the form. */
function useHasLeft(): () => boolean {
  const hasLeft = useRef(false);
  useEffect(() => {
    hasLeft.current = false;
    return () => {
      hasLeft.current = true;
    };
  }, []);
  return () => hasLeft.current;
}

async function sendRequest({ method, path, body }: ActionRequest): Promise<number | null> {
  const { data } = await client.request(method, path, { body });
  const id = (data as { id?: unknown } | undefined)?.id;
  return typeof id === 'number' ? id : null;
}

/** Sends requests whose repetition changes nothing, such as those that bring back tags. @throws {ApiError} */
export async function sendRequests(requests: readonly ActionRequest[]): Promise<void> {
  for (const request of requests) await sendRequest(request);
}

/** Null also when nothing was left to send. */
function readSent(name: string): Stored | null {
  const stored = JSON.parse(sessionStorage.getItem(name) ?? 'null') as Stored | null;
  return stored !== null && stored.accepted < stored.total ? stored : null;
}
