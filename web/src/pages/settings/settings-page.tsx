import { useQuery } from '@tanstack/react-query';
import { type Permission, permissionsQuery, useCan } from '../../session/session.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { PageLayout, Skeleton } from '../../ui/page.tsx';
import { type PageTab, PageTabs } from '../../ui/page-tabs.tsx';
import { AccountTab } from './account-tab.tsx';
import { EnrolmentTab } from './enrolment-tab.tsx';
import { ServerTab } from './server-tab.tsx';
import { WebhooksTab } from './webhooks-tab.tsx';
import { YouTab } from './you-tab.tsx';
import './settings.css';

const TABS: ReadonlyArray<PageTab & { needs?: Permission }> = [
  { value: 'you', label: 'You', panel: YouTab },
  { value: 'account', label: 'Account', panel: AccountTab, needs: 'ManageAccount' },
  { value: 'enrolment', label: 'Adding computers', panel: EnrolmentTab },
  { value: 'webhooks', label: 'Webhooks', panel: WebhooksTab, needs: 'ManageAccount' },
  { value: 'server', label: 'Server', panel: ServerTab },
];

/** The person, the account and the server. */
export function Page() {
  const can = useCan();
  const { isPending, error } = useQuery(permissionsQuery);
  return (
    <PageLayout title="Settings" fill>
      <ErrorMessage error={error} />
      {isPending ? (
        <Skeleton lines={8} />
      ) : (
        <PageTabs label="Settings" tabs={TABS.filter(({ needs }) => needs === undefined || can(needs))} />
      )}
    </PageLayout>
  );
}
