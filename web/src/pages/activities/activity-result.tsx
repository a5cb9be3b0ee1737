import { Link } from '@tanstack/react-router';
import { Section } from '../../ui/page.tsx';
import type { Activity } from './activity-queries.ts';
import { readableResult } from './result-text.ts';

const REASONS = {
  failed: 'it failed there',
  canceled: 'it was canceled there',
  computer_gone: 'the computer was archived or removed',
  reverted: 'it was reverted already',
  unchanged: 'it had changed nothing',
} as const;

/** What the computer reported, what changed on it, and what a revert left out; nothing for an activity without these. */
export function ActivityResult({ activity }: { activity: Activity }) {
  const { result_text, result_code, changes, not_reverted = [] } = activity;
  const text = readableResult(result_text);
  return (
    <>
      {(text !== '' || Boolean(result_code)) && (
        <Section title={result_code ? `Result, code ${result_code}` : 'Result'}>
          {text !== '' && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: long output scrolls by keyboard, too
            <pre className="activity-output" tabIndex={0}>
              {text}
            </pre>
          )}
        </Section>
      )}
      {changes.length > 0 && (
        <Section title="Changes">
          <ul>
            {changes.map((change) => (
              <li key={`${change.package} ${change.type}`}>
                <bdi>{change.package}</bdi>: {change.type} {change.remove_version ?? ''}
                {change.remove_version && change.install_version ? ' → ' : ''}
                {change.install_version ?? ''}
                {change.complemented && <span className="quiet"> (needed by another package)</span>}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {not_reverted.length > 0 && (
        <Section title="Not reverted">
          <ul>
            {not_reverted.map(({ activity_id, computer_id, computer_title, reason }) => (
              <li key={activity_id}>
                <Link to="/activities/$activityId" params={{ activityId: String(activity_id) }}>
                  <bdi>{computer_title ?? `Computer ${computer_id}`}</bdi>
                </Link>
                : {REASONS[reason]}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}
