import { useMutation } from '@tanstack/react-query';
import { Button } from '../../ui/button.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { makeReport } from './make-report.ts';
import type { UsgProfile } from './profile-types.ts';

interface ReportDraft {
  from: string;
  to: string;
  detailed: boolean;
}

/** Requests a report on the runs of some days, waits until the server has made it, and saves it as a file. */
export function UsgReport({ profile }: { profile: UsgProfile }) {
  const day = (profile.last_run_results.timestamp ?? '').slice(0, 10);
  const { draft, change, clear } = useDraft<ReportDraft>(`usg-report.${profile.id}`, {
    from: day,
    to: day,
    detailed: false,
  });
  const report = useMutation({ mutationFn: () => makeReport(profile.id, queryOf(draft)), onSuccess: clear });
  const { from, to, detailed } = draft;
  const path = `/usg-profiles/${profile.id}/report?${new URLSearchParams(Object.entries(queryOf(draft)).map(([name, value]) => [name, String(value)]))}`;
  const command = [
    'usg',
    'report',
    String(profile.id),
    '--start',
    from,
    '--end',
    to,
    ...(detailed ? ['--detailed'] : []),
  ];
  return (
    <Section title="Report">
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!report.isPending) report.mutate();
        }}
      >
        <div className="field-row">
          <TextField
            label="From (UTC)"
            type="date"
            required
            value={from}
            onChange={({ target }) => change({ from: target.value })}
          />
          <TextField
            label="To (UTC)"
            type="date"
            required
            min={from}
            value={to}
            onChange={({ target }) => change({ to: target.value })}
          />
        </div>
        <CheckField
          label="With every rule"
          hint="A line for each computer and rule, instead of one for each computer and run"
          checked={detailed}
          onChange={({ target }) => change({ detailed: target.checked })}
        />
        <ErrorMessage error={report.error} />
        <div className="button-row">
          <Button type="submit" busy={report.isPending}>
            Download report
          </Button>
          <span role="status" className="quiet">
            {report.isPending && 'The server is making the report…'}
            {report.isSuccess && `Saved as ${report.data}`}
          </span>
        </div>
        <CopyAs request={{ method: 'GET', path }} command={command} />
      </form>
    </Section>
  );
}

/** A report on a single day is that of the latest run. */
function queryOf({ from, to, detailed }: ReportDraft) {
  return { start_date: from, ...(to !== from && { end_date: to }), ...(detailed && { detailed: true }) };
}
