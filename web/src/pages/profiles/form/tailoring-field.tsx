import { Field } from '../../../ui/field.tsx';
import { FileList } from '../../../ui/file-list.tsx';

/** A file that changes which rules a benchmark has. */
export interface TailoringFile {
  name: string;
  /** In bytes. */
  size: number;
  text: string;
}

export interface TailoringFieldProps {
  file: TailoringFile | null;
  onFile: (file: TailoringFile | null) => void;
  error: string | null;
}

/** What the server takes. */
const MAX_BYTES = 1024 * 1024;

/** Whether the server takes the file, which is not worth keeping otherwise. */
export function isAcceptable(file: TailoringFile | null): boolean {
  return file !== null && file.size <= MAX_BYTES;
}

/** The file of a profile, which the page shows below the field, since browsers forget it with a reload. */
export function TailoringField({ file, onFile, error }: TailoringFieldProps) {
  const choose = async (input: HTMLInputElement) => {
    const chosen = input.files?.[0];
    if (!chosen) return;
    const text = await chosen.text();
    input.value = '';
    onFile({ name: chosen.name, size: chosen.size, text });
  };
  return (
    <>
      <Field label="Tailoring file" hint="XML, at most 1 MiB" error={error}>
        {(control) => (
          <input
            {...control}
            type="file"
            accept=".xml,text/xml,application/xml"
            required={file === null}
            onChange={({ target }) => void choose(target)}
          />
        )}
      </Field>
      <FileList files={file ? [file] : []} onRemove={() => onFile(null)} />
    </>
  );
}
