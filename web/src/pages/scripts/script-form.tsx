import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { accessGroupsQuery } from '../../api/lists.ts';
import { client } from '../../api/client.ts';
import { useCan } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { ErrorMessage, fieldError } from '../../ui/error-message.tsx';
import { Field, SelectField, TextField } from '../../ui/field.tsx';
import { FileList } from '../../ui/file-list.tsx';
import type { RequestToCopy } from '../../ui/shell-text.ts';
import { useKept } from '../../ui/drafts/use-kept.ts';
import { useDraft } from '../../ui/use-draft.ts';
import { CodeEditor } from './code-editor.tsx';
import { addFiles, areAcceptable, type FileDraft, filesOf, sizeOf } from './files.ts';
import type { Script } from './script-types.ts';
import { draftOf, NEW_SCRIPT, patchOf, requestOf, type ScriptDraft } from './script-draft.ts';

/** Creates a script. */
export function NewScript() {
  const navigate = useNavigate();
  const { files, form } = useScriptForm('script.new', NEW_SCRIPT, []);
  const body = requestOf(form.draft, files.value);
  const save = useSave(async () => (await client.POST('/scripts', { body })).data, form.clear);
  const open = ({ id }: { id: number }) => navigate({ to: '/scripts/$scriptId', params: { scriptId: String(id) } });
  return (
    <ScriptForm
      verb="Create"
      form={form}
      files={files.value}
      onFiles={files.change}
      error={save.error}
      isPending={save.isPending}
      onSave={() => save.mutate(undefined, { onSuccess: (script) => void open(script) })}
      request={{ method: 'POST', path: '/scripts', body }}
    />
  );
}

/** Changes a script; `onDone` when it is saved or nothing is to change. */
export function EditScript({ script, onDone }: { script: Script; onDone: () => void }) {
  const { files, form } = useScriptForm(`script.${script.id}`, draftOf(script), filesOf(script));
  const body = patchOf(form.draft, files.value, script);
  const save = useSave(async () => {
    await requireUnchanged(script.id, form.draft);
    const params = { path: { script_id: script.id } };
    return (await client.PATCH('/scripts/{script_id}', { params, body })).data;
  }, form.clear);
  const cancel = () => {
    form.clear();
    onDone();
  };
  return (
    <ScriptForm
      verb="Save"
      form={form}
      files={files.value}
      onFiles={files.change}
      error={save.error}
      isPending={save.isPending}
      onSave={() => (Object.keys(body).length === 0 ? cancel() : save.mutate(undefined, { onSuccess: onDone }))}
      onCancel={cancel}
      request={{ method: 'PATCH', path: `/scripts/${script.id}`, body }}
    />
  );
}

/** The fields of a script and its files, which survive a reload. */
function useScriptForm(key: string, initial: ScriptDraft, attached: FileDraft[]) {
  const { draft, change, clear: clearDraft } = useDraft<ScriptDraft>(key, initial);
  const files = useKept<FileDraft[]>(key, attached, areAcceptable);
  const clear = () => {
    clearDraft();
    files.clear();
  };
  return { files, form: { draft, change, clear } };
}

function useSave(send: () => Promise<Script>, onSaved: () => void) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: send,
    async onSuccess() {
      onSaved();
      await queryClient.invalidateQueries({ queryKey: ['scripts'] });
    },
  });
}

/** @throws {Error} when someone has changed the script in the meantime, whose work would be lost */
async function requireUnchanged(id: number, { base }: ScriptDraft): Promise<void> {
  const { data } = await client.GET('/scripts/{script_id}', { params: { path: { script_id: id } } });
  if (data.last_edited_at === base) return;
  throw new Error(
    `${data.last_edited_by.name} has changed this script since you opened it. Copy what you need, cancel, and edit it again.`,
  );
}

interface ScriptFormProps {
  verb: string;
  form: { draft: ScriptDraft; change: (changes: Partial<ScriptDraft>) => void };
  files: readonly FileDraft[];
  onFiles: (files: FileDraft[]) => void;
  error: unknown;
  isPending: boolean;
  onSave: () => void;
  onCancel?: () => void;
  request: RequestToCopy;
}

function ScriptForm({ verb, form, files, onFiles, error, isPending, onSave, onCancel, request }: ScriptFormProps) {
  const { draft, change } = form;
  return (
    <form
      className="form script-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isPending) onSave();
      }}
    >
      <TextField
        label="Title"
        value={draft.title}
        error={fieldError(error, 'body.title')}
        maxLength={255}
        required
        onChange={({ target }) => change({ title: target.value })}
      />
      <CodeEditor
        label="Code"
        value={draft.code}
        error={fieldError(error, 'body.code')}
        onChange={(code) => change({ code })}
      />
      <SettingFields draft={draft} change={change} error={error} />
      <FileFields files={files} onFiles={onFiles} error={fieldError(error, 'body.attachments')} />
      <ErrorMessage error={error} />
      <div className="button-row">
        <Button type="submit" kind="primary" busy={isPending}>
          {verb}
        </Button>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <CopyAs request={request} />
      </div>
    </form>
  );
}

function SettingFields({ draft, change, error }: ScriptFormProps['form'] & { error: unknown }) {
  const can = useCan();
  const { data: groups = [] } = useQuery(accessGroupsQuery);
  const allowed = groups.filter(({ name }) => name === draft.accessGroup || can('ManageScript', name));
  const options = allowed.map(({ name, title }) => ({ value: name, label: title }));
  return (
    <div className="script-fields">
      <TextField
        label="Run as user"
        value={draft.username}
        error={fieldError(error, 'body.username')}
        required
        onChange={({ target }) => change({ username: target.value })}
      />
      <TextField
        label="Time limit (seconds)"
        type="number"
        min={1}
        max={604_800}
        value={draft.timeLimit}
        error={fieldError(error, 'body.time_limit')}
        required
        onChange={({ target }) => change({ timeLimit: target.value })}
      />
      <SelectField
        label="Access group"
        options={options.length > 0 ? options : [{ value: draft.accessGroup, label: draft.accessGroup }]}
        value={draft.accessGroup}
        error={fieldError(error, 'body.access_group')}
        onChange={({ target }) => change({ accessGroup: target.value })}
      />
    </div>
  );
}

function FileFields({ files, onFiles, error }: Pick<ScriptFormProps, 'files' | 'onFiles'> & { error: string | null }) {
  const add = async (input: HTMLInputElement) => {
    const added = await addFiles(files, input.files ?? []);
    // The list shows what was chosen, also after a reload.
    input.value = '';
    onFiles(added);
  };
  return (
    <>
      <Field label="Attachments" hint="Up to 5 files of 1 MB together." error={error}>
        {(control) => <input {...control} type="file" multiple onChange={({ target }) => void add(target)} />}
      </Field>
      <FileList
        files={files.map(({ filename, content }) => ({
          name: filename,
          ...(content !== undefined && { size: sizeOf(content) }),
        }))}
        onRemove={(name) => onFiles(files.filter(({ filename }) => filename !== name))}
      />
    </>
  );
}
