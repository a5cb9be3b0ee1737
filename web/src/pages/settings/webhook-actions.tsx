import { client } from '../../api/client.ts';
import { usePageSearch } from '../../url/use-page-search.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { TextField } from '../../ui/field.tsx';
import { useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { deliveriesKey } from './deliveries.tsx';
import { type Webhook, webhooksQuery } from './queries.ts';

interface WebhookProps {
  webhook: Webhook;
}

function pathOf({ id }: Webhook) {
  return { params: { path: { webhook_id: id } } };
}

/** Sends an event that only tests the connection. */
export function TestForm({ webhook }: WebhookProps) {
  const { close } = useOpenForm();
  return (
    <ActionForm
      verb="Send a test"
      send={() => client.POST('/webhooks/{webhook_id}:test', pathOf(webhook))}
      request={{ method: 'POST', path: `/webhooks/${webhook.id}:test` }}
      command={['webhooks', 'test', String(webhook.id)]}
      changes={[webhooksQuery.queryKey, deliveriesKey(webhook.id)]}
      onDone={close}
      onCancel={close}
    >
      {() => (
        <p>
          Sends a test event, of the type <code>webhook.test</code>. The list of deliveries shows whether it arrives.
          {webhook.status !== 'active' && ' It waits until the webhook is resumed.'}
        </p>
      )}
    </ActionForm>
  );
}

/** Pauses an active webhook, and resumes another. */
export function PauseForm({ webhook }: WebhookProps) {
  const { close } = useOpenForm();
  const isActive = webhook.status === 'active';
  const body = { status: isActive ? ('paused' as const) : ('active' as const) };
  return (
    <ActionForm
      verb={isActive ? 'Pause' : 'Resume'}
      send={() => client.PATCH('/webhooks/{webhook_id}', { ...pathOf(webhook), body })}
      request={{ method: 'PATCH', path: `/webhooks/${webhook.id}`, body }}
      command={['webhooks', 'edit', String(webhook.id), '--status', body.status]}
      changes={[webhooksQuery.queryKey, deliveriesKey(webhook.id)]}
      onDone={close}
      onCancel={close}
    >
      {() => (
        <p>
          {isActive
            ? 'Nothing is sent until it is resumed. Then it goes on where it stopped.'
            : 'It goes on where it stopped. Events that have been deleted meanwhile are not sent.'}
        </p>
      )}
    </ActionForm>
  );
}

/** Replaces the secret, and hands on the new one. */
export function RotateForm({ webhook, onSecret }: WebhookProps & { onSecret: (secret: string) => void }) {
  const { close } = useOpenForm();
  const send = async () =>
    onSecret((await client.POST('/webhooks/{webhook_id}:rotate-secret', pathOf(webhook))).data.secret);
  return (
    <ActionForm
      verb="Replace"
      send={send}
      request={{ method: 'POST', path: `/webhooks/${webhook.id}:rotate-secret` }}
      command={['webhooks', 'rotate-secret', String(webhook.id)]}
      onDone={close}
      onCancel={close}
    >
      {() => <p>The present secret is valid for another day, so that the receiver can be changed without a gap.</p>}
    </ActionForm>
  );
}

/** Sends past events again. */
export function ReplayForm({ webhook }: WebhookProps) {
  const { close } = useOpenForm();
  const { draft, change, clear } = useDraft(`settings.replay.${webhook.id}`, { after: 'oldest', before: 'latest' });
  const leave = () => {
    clear();
    close();
  };
  return (
    <ActionForm
      verb="Send again"
      send={() => client.POST('/webhooks/{webhook_id}:replay', { ...pathOf(webhook), body: draft })}
      request={{ method: 'POST', path: `/webhooks/${webhook.id}:replay`, body: draft }}
      command={['webhooks', 'replay', String(webhook.id), '--after', draft.after, '--before', draft.before]}
      changes={[webhooksQuery.queryKey, deliveriesKey(webhook.id)]}
      onDone={leave}
      onCancel={leave}
    >
      {(errorOf) => (
        <>
          <p>Including those that have arrived. The receiver can recognize them by their ids.</p>
          <TextField
            label="After the event"
            required
            autoComplete="off"
            hint="The id of an event, or “oldest” for all that are kept."
            error={errorOf('after')}
            value={draft.after}
            onChange={(event) => change({ after: event.target.value })}
          />
          <TextField
            label="Before the event"
            required
            autoComplete="off"
            hint="The id of an event, or “latest”."
            error={errorOf('before')}
            value={draft.before}
            onChange={(event) => change({ before: event.target.value })}
          />
        </>
      )}
    </ActionForm>
  );
}

/** Deletes a webhook. */
export function DeleteForm({ webhook }: WebhookProps) {
  const { close } = useOpenForm();
  const { set } = usePageSearch();
  return (
    <ActionForm
      verb="Delete"
      danger
      send={() => client.DELETE('/webhooks/{webhook_id}', pathOf(webhook))}
      request={{ method: 'DELETE', path: `/webhooks/${webhook.id}` }}
      command={['webhooks', 'delete', String(webhook.id)]}
      changes={[webhooksQuery.queryKey]}
      onDone={() => set({ webhook: undefined, form: undefined, subject: undefined })}
      onCancel={close}
    >
      {() => <p>Nothing more is sent, and the list of its deliveries is deleted.</p>}
    </ActionForm>
  );
}
