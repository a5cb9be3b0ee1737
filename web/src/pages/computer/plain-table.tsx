import type { ReactNode } from 'react';

interface PlainTableProps {
  label: string;
  head: readonly string[];
  rows: ReadonlyArray<{ key: string; cells: readonly ReactNode[] }>;
}

/** A short table with all its rows; text that is missing shows a dash. */
export function PlainTable({ label, head, rows }: PlainTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by the keyboard
    <section className="fact-table" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, index) => (
                <td key={head[index]}>
                  {cell == null || cell === '' ? (
                    <span className="quiet">–</span>
                  ) : typeof cell === 'string' ? (
                    <bdi>{cell}</bdi>
                  ) : (
                    cell
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
