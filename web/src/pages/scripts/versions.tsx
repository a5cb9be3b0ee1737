import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { usePageSearch } from '../../url/use-page-search.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { Section, Skeleton } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { CodeView } from './code-editor.tsx';
import { type DiffGap, type DiffLine, diffLines, withGaps } from './line-diff.ts';
import { versionQuery, versionsQuery } from './queries.ts';
import type { Script, ScriptVersion, ScriptVersionItem } from './script-types.ts';
import { codeOf } from './script-code.ts';

/** The versions of a script: the URL names the one that is shown, and the one that it is compared with. */
export function Versions({ script }: { script: Script }) {
  const { data: versions, error } = useQuery(versionsQuery(script.id));
  const { get } = usePageSearch();
  const shown = Number(get('version'));
  return (
    <Section title="Versions">
      <ErrorMessage error={error} />
      {!versions && !error && <Skeleton lines={3} />}
      {versions && <VersionTable versions={versions} shown={shown} />}
      {versions && shown > 0 && <Version key={shown} script={script} versions={versions} shown={shown} />}
    </Section>
  );
}

function VersionTable({ versions, shown }: { versions: readonly ScriptVersionItem[]; shown: number }) {
  const { set } = usePageSearch();
  return (
    <div className="list-scroller">
      <table className="list">
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">Title</th>
            <th scope="col">By</th>
            <th scope="col">Saved</th>
            <th scope="col">
              <span className="visually-hidden">Show</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {versions.map(({ version_number: number, title, created_by, created_at }) => (
            <tr key={number} data-selected={number === shown || undefined}>
              <th scope="row">{number}</th>
              <td>
                <bdi>{title}</bdi>
              </td>
              <td>
                <bdi>{created_by.name}</bdi>
              </td>
              <td>
                <Time value={`${created_at}Z`} />
              </td>
              <td>
                <Button
                  kind="quiet"
                  aria-label={`${number === shown ? 'Hide' : 'Show'} version ${number}`}
                  onClick={() => set({ version: number === shown ? undefined : number, with: undefined })}
                >
                  {number === shown ? 'Hide' : 'Show'}
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface VersionProps {
  script: Script;
  versions: ReadonlyArray<{ version_number: number }>;
  shown: number;
}

/** One version: its code, or how it differs from another one. */
function Version({ script, versions, shown }: VersionProps) {
  const { get, set } = usePageSearch();
  const other = Number(get('with'));
  const { data: version, error } = useQuery(versionQuery(script.id, shown));
  const compared = useQuery(versionQuery(script.id, other));
  if (error ?? compared.error) return <ErrorMessage error={error ?? compared.error} />;
  if (!version) return <Skeleton lines={4} />;
  return (
    <>
      <div className="button-row">
        <strong>Version {version.version_number}</strong>
        <select
          className="input script-choice"
          aria-label="Compare with"
          value={other || ''}
          onChange={({ target }) => set({ with: target.value || undefined })}
        >
          <option value="">Not compared</option>
          {versions
            .filter(({ version_number }) => version_number !== shown)
            .map(({ version_number: number }) => (
              <option key={number} value={number}>
                Compared with version {number}
              </option>
            ))}
        </select>
        {script.is_editable && version.version_number !== script.version_number && (
          <Restore script={script} version={version} />
        )}
      </div>
      {other > 0 ? (
        compared.data && <Comparison versions={[version, compared.data]} />
      ) : (
        <CodeView label={`Code of version ${version.version_number}`} code={codeOf(version)} />
      )}
    </>
  );
}

/** How the newer of two versions differs from the older one. */
function Comparison({ versions }: { versions: readonly [ScriptVersion, ScriptVersion] }) {
  const [before, after] = versions.toSorted((a, b) => a.version_number - b.version_number) as [
    ScriptVersion,
    ScriptVersion,
  ];
  const lines = diffLines(codeOf(before), codeOf(after));
  const label = `Changes from version ${before.version_number} to version ${after.version_number}`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached with the keyboard
    <section className="diff" aria-label={label} tabIndex={0}>
      <table>
        <caption className="visually-hidden">{label}</caption>
        <tbody>
          {withGaps(lines).map((line, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity, and never move
            <ComparedLine key={place} line={line} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

const SIGNS = { same: ' ', added: '+', removed: '−' };
const WORDS = { same: '', added: 'Added: ', removed: 'Removed: ' };

function ComparedLine({ line }: { line: DiffLine | DiffGap }) {
  if (line.kind === 'gap') {
    return (
      <tr className="diff-gap">
        <td colSpan={4}>{line.lines === 1 ? '1 line without a change' : `${line.lines} lines without a change`}</td>
      </tr>
    );
  }
  return (
    <tr className={`diff-${line.kind}`}>
      <td className="diff-number">{line.before}</td>
      <td className="diff-number">{line.after}</td>
      <td aria-hidden="true">{SIGNS[line.kind]}</td>
      <td>
        <span className="visually-hidden">{WORDS[line.kind]}</span>
        {line.text}
      </td>
    </tr>
  );
}

function Restore({ script, version }: { script: Script; version: ScriptVersion }) {
  const [isOpen, setOpen] = useState(false);
  const queryClient = useQueryClient();
  const { set } = usePageSearch();
  const body = { code: codeOf(version) };
  const restore = async () => {
    await client.PATCH('/scripts/{script_id}', { params: { path: { script_id: script.id } }, body });
    await queryClient.invalidateQueries({ queryKey: ['scripts'] });
    set({ version: undefined, with: undefined });
  };
  return (
    <>
      <Button onClick={() => setOpen(true)}>Restore</Button>
      <ConfirmDialog
        title={`Restore version ${version.version_number}?`}
        verb="Restore"
        open={isOpen}
        onOpenChange={setOpen}
        onConfirm={restore}
      >
        <p>
          Its code becomes version {script.version_number + 1}, which future runs use. Version {script.version_number}{' '}
          is kept.
        </p>
        <CopyAs request={{ method: 'PATCH', path: `/scripts/${script.id}`, body }} />
      </ConfirmDialog>
    </>
  );
}
