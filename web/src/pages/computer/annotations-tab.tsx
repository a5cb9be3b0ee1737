import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useCan } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { ErrorMessage, fieldError } from '../../ui/error-message.tsx';
import { TextArea, TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import type { ComputerDetail } from './use-computer.ts';

/** The annotations of a computer. */
export function AnnotationsTab({ computer }: { computer: ComputerDetail }) {
  return <Annotations computer={computer} />;
}

interface Annotation {
  key: string;
  value: string;
}

/** Keys with values that administrators and agents have set, and buttons that change them. */
export function Annotations({ computer }: { computer: ComputerDetail }) {
  const { annotations = {}, archived, access_group } = computer;
  const can = useCan();
  const [edited, setEdited] = useState<Annotation | null>(null);
  const [removed, setRemoved] = useState<string | null>(null);
  const change = useAnnotationChange(computer.id);
  const isEditable = !archived && can('ManageComputer', access_group);
  const entries = Object.entries(annotations);
  return (
    <Section
      title="Annotations"
      actions={isEditable && <Button onClick={() => setEdited({ key: '', value: '' })}>Add an annotation…</Button>}
    >
      {entries.length === 0 ? (
        <p className="quiet">None. Annotations are notes for people and queries, such as a rack or an owner.</p>
      ) : (
        <dl className="annotations">
          {entries.map(([key, value]) => (
            <div key={key} className="annotation">
              <dt>
                <bdi>{key}</bdi>
              </dt>
              <dd>
                <bdi>{value}</bdi>
              </dd>
              {isEditable && (
                <dd className="annotation-buttons">
                  <Button kind="quiet" aria-label={`Edit ${key}`} onClick={() => setEdited({ key, value })}>
                    Edit
                  </Button>
                  <Button kind="quiet" aria-label={`Remove ${key}`} onClick={() => setRemoved(key)}>
                    Remove
                  </Button>
                </dd>
              )}
            </div>
          ))}
        </dl>
      )}
      <Dialog
        title={edited?.key ? 'Edit the annotation' : 'Add an annotation'}
        open={edited !== null}
        onOpenChange={() => setEdited(null)}
      >
        {edited && <AnnotationForm id={computer.id} edited={edited} onDone={() => setEdited(null)} />}
      </Dialog>
      <ConfirmDialog
        title={`Remove the annotation ${removed}?`}
        verb="Remove"
        danger
        open={removed !== null}
        onOpenChange={() => setRemoved(null)}
        onConfirm={() => change.mutateAsync({ key: removed ?? '', value: null })}
      >
        An annotation that the computer itself reports appears again with its next report.
      </ConfirmDialog>
    </Section>
  );
}

/** Sets an annotation, or removes it (null). */
function useAnnotationChange(id: number) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async ({ key, value }: { key: string; value: string | null }) => {
      const query = `id:${id}`;
      if (value === null) await client.POST('/computers:remove-annotation', { body: { query, key } });
      else await client.POST('/computers:annotate', { body: { query, key, value } });
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['computer', id] }),
  });
}

function AnnotationForm({ id, edited, onDone }: { id: number; edited: Annotation; onDone: () => void }) {
  const [fields, setFields] = useState(edited);
  const save = useAnnotationChange(id);
  const keyError = fieldError(save.error, 'body.key');
  const valueError = fieldError(save.error, 'body.value');
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!save.isPending) save.mutate(fields, { onSuccess: onDone });
      }}
    >
      <TextField
        label="Key"
        required
        readOnly={edited.key !== ''}
        maxLength={255}
        hint="Without spaces, colons and quotes."
        value={fields.key}
        error={keyError}
        onChange={({ target }) => setFields({ ...fields, key: target.value })}
      />
      <TextArea
        label="Value"
        value={fields.value}
        error={valueError}
        onChange={({ target }) => setFields({ ...fields, value: target.value })}
      />
      <ErrorMessage error={keyError || valueError ? null : save.error} />
      <div className="button-row">
        <Button type="submit" kind="primary" busy={save.isPending}>
          Save
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
      <CopyAs request={{ method: 'POST', path: '/computers:annotate', body: { query: `id:${id}`, ...fields } }} />
    </form>
  );
}
