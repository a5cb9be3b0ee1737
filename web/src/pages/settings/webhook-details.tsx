import { Link } from '@tanstack/react-router';
import { Button } from '../../ui/button.tsx';
import { FormDialog, useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { Facts } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { Deliveries } from './deliveries.tsx';
import type { Webhook } from './queries.ts';
import { DeleteForm, PauseForm, ReplayForm, RotateForm, TestForm } from './webhook-actions.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { EventTypes, WebhookState } from './webhook-state.tsx';

interface WebhookDetailsProps {
  webhook: Webhook;
  onSecret: (secret: string) => void;
}

/** One webhook: its state, what can be done with it, and its deliveries. */
export function WebhookDetails({ webhook, onSecret }: WebhookDetailsProps) {
  const { open } = useOpenForm();
  const { id, url, types, query, ordered, status, reason, failing_since, creation_time } = webhook;
  return (
    <>
      <div className="toolbar">
        <Link to="." search={{ tab: 'webhooks' }}>
          All webhooks
        </Link>
        <h2 className="ellipsis" title={url}>
          <bdi>{url}</bdi>
        </h2>
        <WebhookState webhook={webhook} />
      </div>
      <div className="toolbar">
        <Button kind="primary" onClick={() => open('test', id)}>
          Test
        </Button>
        <Button onClick={() => open('pause', id)}>{status === 'active' ? 'Pause' : 'Resume'}</Button>
        <Button onClick={() => open('change-webhook', id)}>Change</Button>
        <Button onClick={() => open('rotate', id)}>Replace the secret</Button>
        <Button onClick={() => open('replay', id)}>Send past events</Button>
        <Button kind="danger" onClick={() => open('delete-webhook', id)}>
          Delete
        </Button>
      </div>
      <Facts
        items={[
          ['Events', <EventTypes key="types" types={types} />],
          ['Computers', query === null ? 'All' : <code key="query">{query}</code>],
          ['In order', ordered ? 'Yes' : 'No'],
          ['Failing since', <Time key="failing" value={failing_since} />],
          ['Reason', reason],
          ['Created', <Time key="created" value={creation_time} />],
        ]}
      />
      <Deliveries webhookId={id} />
      <WebhookDialogs webhook={webhook} onSecret={onSecret} />
    </>
  );
}

function WebhookDialogs({ webhook, onSecret }: WebhookDetailsProps) {
  const isActive = webhook.status === 'active';
  return (
    <>
      <FormDialog form="test" title="Test the webhook">
        <TestForm webhook={webhook} />
      </FormDialog>
      <FormDialog form="pause" title={isActive ? 'Pause the webhook' : 'Resume the webhook'}>
        <PauseForm webhook={webhook} />
      </FormDialog>
      <FormDialog form="change-webhook" title="Change the webhook">
        <WebhookForm webhook={webhook} />
      </FormDialog>
      <FormDialog form="rotate" title="Replace the secret">
        <RotateForm webhook={webhook} onSecret={onSecret} />
      </FormDialog>
      <FormDialog form="replay" title="Send past events again">
        <ReplayForm webhook={webhook} />
      </FormDialog>
      <FormDialog form="delete-webhook" title="Delete the webhook">
        <DeleteForm webhook={webhook} />
      </FormDialog>
    </>
  );
}
