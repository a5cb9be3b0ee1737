import { useState, useSyncExternalStore } from 'react';
import { Button } from './button.tsx';
import { errorText } from './error-message.tsx';

interface Notice {
  text: string;
  /** What can be done about it, such as bringing back what was there before. */
  action?: { label: string; run: () => Promise<unknown>; done: string };
}

let current: Notice | null = null;
const listeners = new Set<() => void>();

/** Shows on every page what has happened, until it is dismissed or something else has happened. */
export function notify(notice: Notice | null): void {
  current = notice;
  for (const listener of listeners) listener();
}

/** Where notices appear. */
export function Notices() {
  const notice = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
  return (
    <div aria-live="polite" className={notice ? 'notice' : 'visually-hidden'}>
      {notice && <NoticeText key={notice.text} notice={notice} />}
    </div>
  );
}

function NoticeText({ notice: { text, action } }: { notice: Notice }) {
  const [isBusy, setBusy] = useState(false);
  const run = async ({ done, run: act }: NonNullable<Notice['action']>) => {
    setBusy(true);
    try {
      await act();
      notify({ text: done });
    } catch (error) {
      notify({ text: errorText(error) });
    }
  };
  return (
    <>
      <bdi>{text}</bdi>
      {action && (
        <Button kind="quiet" busy={isBusy} onClick={() => void run(action)}>
          {action.label}
        </Button>
      )}
      <Button kind="quiet" onClick={() => notify(null)}>
        Dismiss
      </Button>
    </>
  );
}
