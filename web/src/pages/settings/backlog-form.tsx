import { client } from '../../api/client.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { backlogQuery } from './queries.ts';

const PATH = '/message-backlog-settings';
const DEFAULT_LIMIT = 100;

/** Limits how much may wait for one computer. */
export function BacklogForm({ limit }: { limit: number | null }) {
  const { draft, change, clear } = useDraft('settings.backlog', {
    isLimited: limit !== null,
    limit: String(limit ?? DEFAULT_LIMIT),
  });
  const body = { max_message_backlog: Number(draft.limit) };
  return (
    <ActionForm
      verb="Save limit"
      done="Saved"
      send={() => (draft.isLimited ? client.PUT(PATH, { body }) : client.DELETE(PATH))}
      request={draft.isLimited ? { method: 'PUT', path: PATH, body } : { method: 'DELETE', path: PATH }}
      changes={[backlogQuery.queryKey, ['activities']]}
      onDone={clear}
    >
      {(errorOf) => (
        <>
          <CheckField
            label="Limit how many messages wait for one computer"
            hint="What is beyond the limit is held back, and goes out in its order as the computer catches up. Nothing is dropped."
            checked={draft.isLimited}
            onChange={(event) => change({ isLimited: event.target.checked })}
          />
          {draft.isLimited && (
            <TextField
              label="Messages for one computer"
              type="number"
              min={0}
              max={2_147_483_647}
              required
              hint="With 0 nothing is sent to any computer."
              error={errorOf('max_message_backlog')}
              value={draft.limit}
              onChange={(event) => change({ limit: event.target.value })}
            />
          )}
        </>
      )}
    </ActionForm>
  );
}
