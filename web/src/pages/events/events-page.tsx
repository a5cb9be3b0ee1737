import { useQuery } from '@tanstack/react-query';
import { permissionsQuery, useCan } from '../../session/session.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { PageLayout, Skeleton } from '../../ui/page.tsx';
import { type PageTab, PageTabs } from '../../ui/page-tabs.tsx';
import { EventLog } from './event-log.tsx';
import { LiveFeed } from './live-feed.tsx';
import './events.css';

const LOG: PageTab = { value: 'log', label: 'Log', panel: EventLog };
const LIVE: PageTab = { value: 'live', label: 'Live', panel: LiveFeed, keepMounted: true };

/** Who did what, for those who may read it, and what happens now, for everybody. */
export function Page() {
  const { isPending, error } = useQuery(permissionsQuery);
  const mayReadLog = useCan()('ViewEventLog');
  return (
    <PageLayout title="Events" fill>
      <ErrorMessage error={error} />
      {isPending ? <Skeleton lines={12} /> : <PageTabs label="Events" tabs={mayReadLog ? [LOG, LIVE] : [LIVE]} />}
    </PageLayout>
  );
}
