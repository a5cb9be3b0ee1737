import type { components, EventType } from '@flotilla/client';
import { client } from '../../api/client.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { Checks } from '../../ui/checks.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { EVENT_TYPES } from './event-types.ts';
import { type Webhook, webhooksQuery } from './queries.ts';

type Request = components['schemas']['WebhookRequest'];

interface WebhookFormProps {
  /** The one that is changed; without it, a new one is created. */
  webhook?: Webhook;
  /** Receives the secret of a new webhook, which is not shown again. */
  onSecret?: (secret: string) => void;
}

/** Creates a webhook, or changes one. */
export function WebhookForm({ webhook, onSecret }: WebhookFormProps) {
  const { close } = useOpenForm();
  const { url = '', types = [], query = '', ordered = false } = webhook ?? {};
  const { draft, change, clear } = useDraft(`settings.webhook.${webhook?.id ?? ''}`, {
    ...{ url, ordered, types: (types ?? []) as string[], query: query ?? '' },
  });
  const body: Request = {
    ...{ url: draft.url, ordered: draft.ordered, query: draft.query.trim() || null },
    types: draft.types.length === 0 ? null : (draft.types as EventType[]),
  };
  const send = async () => {
    if (webhook) await client.PATCH('/webhooks/{webhook_id}', { params: { path: { webhook_id: webhook.id } }, body });
    else onSecret?.((await client.POST('/webhooks', { body })).data.secret);
  };
  const path = webhook ? `/webhooks/${webhook.id}` : '/webhooks';
  const leave = () => {
    clear();
    close();
  };
  return (
    <ActionForm
      verb={webhook ? 'Save' : 'Create'}
      send={send}
      request={{ method: webhook ? 'PATCH' : 'POST', path, body }}
      changes={[webhooksQuery.queryKey]}
      onDone={leave}
      onCancel={leave}
    >
      {(errorOf) => <WebhookFields draft={draft} change={change} errorOf={errorOf} />}
    </ActionForm>
  );
}

interface Draft {
  url: string;
  ordered: boolean;
  types: string[];
  query: string;
}

interface WebhookFieldsProps {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
  errorOf: (field: string) => string | null;
}

function WebhookFields({ draft, change, errorOf }: WebhookFieldsProps) {
  return (
    <>
      <TextField
        label="Address"
        type="url"
        required
        autoComplete="off"
        placeholder="https://example.com/flotilla"
        error={errorOf('url')}
        value={draft.url}
        onChange={(event) => change({ url: event.target.value })}
      />
      <TextField
        label="Computers"
        autoComplete="off"
        spellCheck={false}
        hint="A query, such as tag:web. Only events about the computers that it finds are sent. Empty for all."
        error={errorOf('query')}
        value={draft.query}
        onChange={(event) => change({ query: event.target.value })}
      />
      <Checks
        label="Events"
        columns
        error={errorOf('types')}
        options={EVENT_TYPES}
        chosen={draft.types}
        onChange={(types) => change({ types })}
      >
        <p className="field-hint">None for all.</p>
      </Checks>
      <CheckField
        label="In order"
        hint="Each event is sent only once the one before it has arrived. A receiver that fails then holds up all that follow."
        checked={draft.ordered}
        onChange={(event) => change({ ordered: event.target.checked })}
      />
    </>
  );
}
