import { useQuery } from '@tanstack/react-query';
import { usePageSearch } from '../../url/use-page-search.ts';
import { Section } from '../../ui/page.tsx';
import { failuresQuery } from './activity-queries.ts';
import { readableResult } from './result-text.ts';

/** The different failures of an activity, of which one selects the computers below. */
export function Failures({ id }: { id: number }) {
  const { search, set } = usePageSearch();
  const { data } = useQuery(failuresQuery(id));
  if (!data || data.count === 0) return null;
  const hidden = data.count - data.results.length;
  return (
    <Section title="Failures">
      <ul className="failures">
        {data.results.map(({ text, count }) => {
          const isChosen = search['failure'] !== undefined && String(search['failure']) === text;
          const shown = readableResult(text) || 'Failed without a reason';
          return (
            <li key={text}>
              <button
                type="button"
                className="failure"
                aria-pressed={isChosen}
                title={text}
                onClick={() => set({ failure: isChosen ? undefined : text, status: undefined, result: undefined })}
              >
                <span className="failure-count">{count.toLocaleString()} ×</span>
                <bdi className="failure-text">{shown}</bdi>
              </button>
            </li>
          );
        })}
      </ul>
      {hidden > 0 && <p className="quiet">And {hidden.toLocaleString()} rarer ones.</p>}
    </Section>
  );
}
