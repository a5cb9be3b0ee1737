import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { accessGroupsQuery } from '../../api/lists.ts';
import { Button } from '../../ui/button.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { ErrorMessage, fieldError } from '../../ui/error-message.tsx';
import { SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { changesOf, type EditFields, fieldsOf } from './edit-fields.ts';
import type { ComputerDetail } from './use-computer.ts';

interface EditDialogProps {
  computer: ComputerDetail;
  open: boolean;
  onClose: () => void;
}

/** The dialog that changes what administrators decide about a computer. */
export function EditDialog({ computer, open, onClose }: EditDialogProps) {
  return (
    <Dialog title="Edit this computer" open={open} onOpenChange={onClose}>
      <EditForm computer={computer} onDone={onClose} />
    </Dialog>
  );
}

const FIELDS = ['title', 'comment', 'tags', 'access_group'];

function EditForm({ computer, onDone }: { computer: ComputerDetail; onDone: () => void }) {
  const queryClient = useQueryClient();
  const { draft, change, clear } = useDraft<EditFields>(`computer-${computer.id}`, fieldsOf(computer));
  const body = changesOf(computer, draft);
  const save = useMutation({
    mutationFn: () => client.PUT('/computers/{computer_id}', { params: { path: { computer_id: computer.id } }, body }),
    onSuccess: async () => {
      clear();
      await queryClient.invalidateQueries({ queryKey: ['computer', computer.id] });
      onDone();
    },
  });
  const isFieldError = FIELDS.some((field) => fieldError(save.error, `body.${field}`) !== null);
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!save.isPending) save.mutate();
      }}
    >
      <Fields draft={draft} change={change} error={save.error} />
      <ErrorMessage error={isFieldError ? null : save.error} />
      <div className="button-row">
        <Button type="submit" kind="primary" busy={save.isPending} disabled={Object.keys(body).length === 0}>
          Save
        </Button>
        <Button
          onClick={() => {
            clear();
            onDone();
          }}
        >
          Cancel
        </Button>
      </div>
      <CopyAs request={{ method: 'PUT', path: `/computers/${computer.id}`, body }} />
    </form>
  );
}

interface FieldsProps {
  draft: EditFields;
  change: (changes: Partial<EditFields>) => void;
  error: unknown;
}

function Fields({ draft, change, error }: FieldsProps) {
  const { data: groups = [] } = useQuery(accessGroupsQuery);
  const names = [...new Set([draft.access_group, ...groups.map(({ name }) => name)])];
  return (
    <>
      <TextField
        label="Title"
        required
        value={draft.title}
        error={fieldError(error, 'body.title')}
        onChange={({ target }) => change({ title: target.value })}
      />
      <TextArea
        label="Comment"
        value={draft.comment}
        error={fieldError(error, 'body.comment')}
        onChange={({ target }) => change({ comment: target.value })}
      />
      <TextField
        label="Tags"
        hint="Separated by spaces; letters, digits and dashes."
        value={draft.tags}
        error={fieldError(error, 'body.tags')}
        onChange={({ target }) => change({ tags: target.value })}
      />
      <SelectField
        label="Access group"
        options={names.map((name) => ({
          value: name,
          label: groups.find((group) => group.name === name)?.title ?? name,
        }))}
        value={draft.access_group}
        error={fieldError(error, 'body.access_group')}
        onChange={({ target }) => change({ access_group: target.value })}
      />
    </>
  );
}
