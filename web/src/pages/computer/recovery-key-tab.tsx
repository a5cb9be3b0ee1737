import type { components } from '@flotilla/client';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { client } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorMessage, fieldError } from '../../ui/error-message.tsx';
import { TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { ActivityState } from '../../ui/state-mark.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import type { ComputerDetail } from './use-computer.ts';

type RecoveryKey = components['schemas']['RecoveryKey'];

/** How long a key is shown at most. */
const SHOWN_MS = 5 * 60_000;

/** Shows the recovery key of a computer after a reason was given, which the event log keeps. */
export function RecoveryKeyTab({ computer }: { computer: ComputerDetail }) {
  const { shown, read, hide } = useShownKey(computer.id);
  return (
    <Section
      title="Recovery key"
      actions={
        !computer.archived && (
          <Link
            className="button"
            to="/act/$action"
            params={{ action: 'generate-recovery-key' }}
            search={{ ids: computer.id }}
          >
            Generate a new key…
          </Link>
        )
      }
    >
      {shown ? <ShownKey shown={shown} onHide={hide} /> : <ReasonForm id={computer.id} read={read} />}
    </Section>
  );
}

/** The key is only in the memory of this page, and only until it is hidden: nothing caches it. */
function useShownKey(id: number) {
  const [shown, setShown] = useState<RecoveryKey | null>(null);
  const read = useMutation({
    mutationFn: async (reason: string) => {
      const params = { path: { computer_id: id }, query: { reason } };
      setShown((await client.GET('/computers/{computer_id}/recovery-key', { params })).data);
    },
    gcTime: 0,
  });
  useEffect(() => {
    if (shown === null) return;
    const hide = () => setShown(null);
    const hideWithPage = () => document.visibilityState === 'hidden' && hide();
    const timer = setTimeout(hide, SHOWN_MS);
    document.addEventListener('visibilitychange', hideWithPage);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', hideWithPage);
    };
  }, [shown]);
  return { shown, read, hide: () => setShown(null) };
}

function ReasonForm({ id, read }: { id: number; read: ReturnType<typeof useShownKey>['read'] }) {
  const { draft, change, clear } = useDraft(`recovery-key.${id}`, { reason: '' });
  const error = fieldError(read.error, 'query.reason');
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!read.isPending) read.mutate(draft.reason, { onSuccess: clear });
      }}
    >
      <TextField
        label="Reason"
        required
        maxLength={255}
        hint="Why you need the key. The event log records it with your name and the time."
        value={draft.reason}
        error={error}
        onChange={({ target }) => change({ reason: target.value })}
      />
      <ErrorMessage error={error ? null : read.error} />
      <div className="button-row">
        <Button type="submit" kind="primary" busy={read.isPending}>
          Show
        </Button>
      </div>
    </form>
  );
}

function ShownKey({ shown: { fde_recovery_key: key, activity }, onHide }: { shown: RecoveryKey; onHide: () => void }) {
  return (
    <>
      {key === null ? (
        <p>There is no recovery key for this computer.</p>
      ) : (
        <p>
          <code className="recovery-key">{key}</code>
        </p>
      )}
      {activity && (
        <p>
          The last generation: <ActivityState status={activity.activity_status} />{' '}
          <Link to="/activities/$activityId" params={{ activityId: String(activity.id) }}>
            <bdi>{activity.summary}</bdi>
          </Link>
        </p>
      )}
      <div className="button-row">
        <Button onClick={onHide}>Hide</Button>
        {key !== null && <span className="quiet">It is hidden after five minutes, and when you leave this tab.</span>}
      </div>
    </>
  );
}
