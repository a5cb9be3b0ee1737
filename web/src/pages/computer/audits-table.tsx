import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { Section } from '../../ui/page.tsx';
import { StateMark } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { allRows } from '../../ui/use-rows.ts';
import { makeReport } from '../profiles/make-report.ts';
import { MODES } from '../profiles/profile-rows.ts';
import { type Audit, auditState, hasResult, rulesText } from './audits.ts';

type Row = Audit & { index: number };

const COLUMNS: readonly Column<Row>[] = [
  { id: 'started', header: 'Started', width: '176px', cell: (audit) => <Started audit={audit} /> },
  {
    id: 'profile',
    header: 'Profile',
    width: 'minmax(160px, 1fr)',
    cell: ({ profile }) => <ProfileLink {...profile} />,
  },
  { id: 'mode', header: 'Does', width: '176px', cell: ({ mode }) => MODES[mode] },
  { id: 'result', header: 'Result', width: '120px', cell: (audit) => <AuditState audit={audit} /> },
  { id: 'rules', header: 'Rules', width: 'minmax(136px, 1fr)', cell: (audit) => <RulesText audit={audit} /> },
];

/** The audits of a computer by date, each with its activity and its report. */
export function AuditsTable({ audits }: { audits: readonly Audit[] }) {
  const report = useMutation({
    mutationFn: ({ profile, started_at }: Audit) => makeReport(profile.id, { start_date: started_at, detailed: true }),
  });
  const { mutate, isPending } = report;
  const columns = useMemo(() => [...COLUMNS, reportColumn(mutate, isPending)], [mutate, isPending]);
  return (
    <Section
      title="Audits by date"
      actions={
        <span role="status" className="quiet">
          {isPending && 'The server is making the report…'}
          {report.isSuccess && `Saved as ${report.data}`}
        </span>
      }
    >
      <ErrorMessage error={report.error} />
      <DataTable
        label="Audits by date"
        columns={columns}
        rows={allRows(audits.map((audit, index) => ({ ...audit, index })))}
        rowKey={({ index }) => index}
        empty={<p className="quiet">It has not been audited yet. Run a profile, or wait for its next date.</p>}
      />
    </Section>
  );
}

function reportColumn(save: (audit: Audit) => void, isBusy: boolean): Column<Row> {
  return {
    id: 'report',
    header: 'Report',
    width: '104px',
    cell: (audit) =>
      hasResult(audit) ? (
        <button
          type="button"
          className="link-button"
          title="Every rule on every computer of the run, as CSV"
          disabled={isBusy}
          onClick={() => save(audit)}
        >
          Download
        </button>
      ) : (
        '–'
      ),
  };
}

function Started({ audit: { activity_id: id, started_at } }: { audit: Audit }) {
  if (id === null) return <Time value={started_at} />;
  return (
    <Link to="/activities/$activityId" params={{ activityId: String(id) }}>
      <Time value={started_at} />
    </Link>
  );
}

/** The result of an audit. */
export function AuditState({ audit }: { audit: Audit }) {
  const { tone, label } = auditState(audit);
  return <StateMark tone={tone}>{label}</StateMark>;
}

/** How many rules failed, or why that is not known. */
export function RulesText({ audit }: { audit: Audit }) {
  const text = rulesText(audit);
  return text === null ? <span className="quiet">–</span> : <bdi title={text}>{text}</bdi>;
}

/** The title of a USG profile, which leads to it. */
export function ProfileLink({ id, title }: { id: number; title: string }) {
  return (
    <Link to="/profiles/$kind/$profileId" params={{ kind: 'usg', profileId: String(id) }} title={title}>
      <bdi>{title}</bdi>
    </Link>
  );
}
