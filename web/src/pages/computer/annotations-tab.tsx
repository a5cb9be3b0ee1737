import { useMutation, useQueryClient } from '@tanstack/react-query';
import { commandOf } from '../../acting/plans/plan.ts';
import { client } from '../../api/client.ts';
import { useCan } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { FormDialog, useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { ErrorMessage, fieldError } from '../../ui/error-message.tsx';
import { TextArea, TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import type { ComputerDetail } from './use-computer.ts';

/** The annotations of a computer. */
export function AnnotationsTab({ computer }: { computer: ComputerDetail }) {
  return <Annotations computer={computer} />;
}

const EDIT = 'annotation';
const REMOVE = 'remove-annotation';

interface Annotation {
  key: string;
  value: string;
}

/** Keys with values that administrators and agents have set, and buttons that change them. */
export function Annotations({ computer }: { computer: ComputerDetail }) {
  const { annotations = {}, archived, access_group } = computer;
  const can = useCan();
  const { form, subject, open, close } = useOpenForm();
  const isEditable = !archived && can('ManageComputer', access_group);
  const entries = Object.entries(annotations);
  return (
    <Section title="Annotations" actions={isEditable && <Button onClick={() => open(EDIT)}>Add an annotation…</Button>}>
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
                  <Button kind="quiet" aria-label={`Edit ${key}`} onClick={() => open(EDIT, key)}>
                    Edit
                  </Button>
                  <Button kind="quiet" aria-label={`Remove ${key}`} onClick={() => open(REMOVE, key)}>
                    Remove
                  </Button>
                </dd>
              )}
            </div>
          ))}
        </dl>
      )}
      {isEditable && (
        <>
          <FormDialog form={EDIT} title={subject ? 'Edit the annotation' : 'Add an annotation'}>
            <AnnotationForm
              id={computer.id}
              edited={{ key: subject, value: annotations[subject] ?? '' }}
              onDone={close}
            />
          </FormDialog>
          <RemoveDialog id={computer.id} name={subject} open={form === REMOVE} onClose={close} />
        </>
      )}
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

interface RemoveDialogProps {
  id: number;
  name: string;
  open: boolean;
  onClose: () => void;
}

function RemoveDialog({ id, name, open, onClose }: RemoveDialogProps) {
  const change = useAnnotationChange(id);
  return (
    <ConfirmDialog
      title={`Remove the annotation ${name}?`}
      verb="Remove"
      danger
      open={open}
      onOpenChange={onClose}
      onConfirm={() => change.mutateAsync({ key: name, value: null })}
    >
      <p>An annotation that the computer itself reports appears again with its next report.</p>
      <CopyAs
        request={{ method: 'POST', path: '/computers:remove-annotation', body: { query: `id:${id}`, key: name } }}
        command={commandOf({ name: 'computers unannotate', args: [name], options: ['--id', String(id)] })}
      />
    </ConfirmDialog>
  );
}

function AnnotationForm({ id, edited, onDone }: { id: number; edited: Annotation; onDone: () => void }) {
  const { draft: fields, change, clear } = useDraft(`annotation-${id}.${edited.key}`, edited);
  const leave = () => {
    clear();
    onDone();
  };
  const save = useAnnotationChange(id);
  const keyError = fieldError(save.error, 'body.key');
  const valueError = fieldError(save.error, 'body.value');
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!save.isPending) save.mutate(fields, { onSuccess: leave });
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
        onChange={({ target }) => change({ key: target.value })}
      />
      <TextArea
        label="Value"
        value={fields.value}
        error={valueError}
        onChange={({ target }) => change({ value: target.value })}
      />
      <ErrorMessage error={keyError || valueError ? null : save.error} />
      <div className="button-row">
        <Button type="submit" kind="primary" busy={save.isPending}>
          Save
        </Button>
        <Button onClick={leave}>Cancel</Button>
      </div>
      <CopyAs
        request={{ method: 'POST', path: '/computers:annotate', body: { query: `id:${id}`, ...fields } }}
        command={commandOf({
          name: 'computers annotate',
          args: [fields.key, fields.value],
          options: ['--id', String(id)],
        })}
      />
    </form>
  );
}
