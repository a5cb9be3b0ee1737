import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { Section, Skeleton } from '../../ui/page.tsx';
import type { RequestToCopy } from '../../ui/shell-text.ts';
import { useZone } from '../../ui/times/use-zone.ts';
import { toLocal } from '../../ui/times/zone.ts';
import { datesQuery } from './queries.ts';
import type { Dates, ProfileKind } from './profile-types.ts';

/** Computers that a profile is for, in words. */
export function scopeText({ all_computers, tags }: { all_computers: boolean; tags: readonly string[] }): string {
  if (all_computers) return 'All computers of its access group';
  return tags.length === 0 ? 'No computers: it has no tags' : `Computers with the tag ${tags.join(' or ')}`;
}

/** The next dates of a profile, in its time zone. */
export function UpcomingDates({ kind, id, empty }: { kind: ProfileKind; id: number; empty: string }) {
  const { data, error } = useQuery(datesQuery(kind, id));
  return (
    <Section title="Upcoming dates">
      <ErrorMessage error={error} />
      {!data && !error && <Skeleton lines={3} />}
      {data?.dates.length === 0 && <p className="quiet">{empty}</p>}
      {data && data.dates.length > 0 && <DateList {...data} />}
    </Section>
  );
}

/** Dates as clocks in a time zone show them. */
export function DateList({ dates, timezone }: Dates) {
  return (
    <>
      <ol className="dates">
        {dates.map((date) => (
          <li key={date}>
            <ZonedTime value={date} zone={timezone} />
          </li>
        ))}
      </ol>
      <p className="quiet">Time zone: {timezone}</p>
    </>
  );
}

/** A time as a clock in the zone of the profile shows it, with that of the person and UTC on hover. */
function ZonedTime({ value, zone }: { value: string; zone: string }) {
  const format = new Intl.DateTimeFormat(undefined, { weekday: 'short', dateStyle: undefined, timeZone: zone });
  const [date, time] = toLocal(value, zone).split('T');
  const person = useZone();
  const own = zone === person ? '' : `${toLocal(value, person).replace('T', ' ')} ${person}\n`;
  return (
    <time dateTime={value} title={`${own}${value.replace('T', ' ').replace('Z', '')} UTC`}>
      {format.format(new Date(value))} {date} {time}
    </time>
  );
}

interface ArchiveButtonProps {
  kind: ProfileKind;
  id: number;
  title: string;
  request: RequestToCopy;
  archive: () => Promise<unknown>;
}

/** Archives a profile for good, once it is confirmed. */
export function ArchiveButton({ kind, id, title, request, archive }: ArchiveButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const queryClient = useQueryClient();
  const onConfirm = async () => {
    await archive();
    void queryClient.invalidateQueries({ queryKey: ['profiles'] });
    await queryClient.invalidateQueries({ queryKey: ['profile', kind, id] });
  };
  const command = [kind === 'usg' ? 'usg' : 'script-profiles', 'archive', String(id)];
  return (
    <>
      <Button kind="danger" onClick={() => setOpen(true)}>
        Archive
      </Button>
      <ConfirmDialog
        title="Archive this profile?"
        verb="Archive"
        danger
        open={isOpen}
        onOpenChange={setOpen}
        onConfirm={onConfirm}
      >
        <p>
          <bdi>{title}</bdi> does not run again; a run that is going on continues. An archived profile cannot be made
          active again.
        </p>
        <CopyAs request={request} command={command} />
      </ConfirmDialog>
    </>
  );
}

interface RunButtonProps {
  verb: string;
  title: string;
  children: ReactNode;
  request: RequestToCopy;
  command: readonly string[];
  run: () => Promise<{ id: number }>;
}

/** Starts an activity once it is confirmed, and opens the page of the activity. */
export function RunButton({ verb, title, children, request, command, run }: RunButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const { mutateAsync } = useMutation({ mutationFn: run });
  const onConfirm = async () => {
    const { id } = await mutateAsync();
    await navigate({ to: '/activities/$activityId', params: { activityId: String(id) } });
  };
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        {verb}
      </Button>
      <ConfirmDialog title={title} verb={verb} open={isOpen} onOpenChange={setOpen} onConfirm={onConfirm}>
        {children}
        <CopyAs request={request} command={command} />
      </ConfirmDialog>
    </>
  );
}
