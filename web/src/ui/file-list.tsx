import { Button } from './button.tsx';

interface ChosenFile {
  name: string;
  /** In bytes; absent for a file that the server has already. */
  size?: number;
}

/** The files of a form, which can be removed. */
export function FileList({ files, onRemove }: { files: readonly ChosenFile[]; onRemove: (name: string) => void }) {
  if (files.length === 0) return null;
  return (
    <ul className="files">
      {files.map(({ name, size }) => (
        <li key={name}>
          <bdi>{name}</bdi>
          {size !== undefined && <span className="quiet">new, {sizeText(size)}</span>}
          <Button kind="quiet" aria-label={`Remove ${name}`} onClick={() => onRemove(name)}>
            Remove
          </Button>
        </li>
      ))}
    </ul>
  );
}

const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

function sizeText(bytes: number): string {
  return bytes < 1000 ? `${bytes} bytes` : `${numbers.format(bytes / 1000)} kB`;
}
