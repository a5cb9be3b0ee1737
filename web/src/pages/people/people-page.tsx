import { useQuery } from '@tanstack/react-query';
import { type Permission, permissionsQuery, useCan } from '../../session/session.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { PageLayout, Skeleton } from '../../ui/page.tsx';
import { type PageTab, PageTabs } from '../../ui/page-tabs.tsx';
import { AccessGroupsTab } from './access-groups-tab.tsx';
import { AccessKeysTab } from './access-keys-tab.tsx';
import { AdministratorsTab } from './administrators-tab.tsx';
import { InvitationsTab } from './invitations-tab.tsx';
import { RolesTab } from './roles-tab.tsx';
import './people.css';

const TABS: ReadonlyArray<PageTab & { needs?: Permission }> = [
  { value: 'administrators', label: 'Administrators', panel: AdministratorsTab, needs: 'ViewRole' },
  { value: 'roles', label: 'Roles', panel: RolesTab, needs: 'ViewRole' },
  { value: 'access-groups', label: 'Access groups', panel: AccessGroupsTab },
  { value: 'invitations', label: 'Invitations', panel: InvitationsTab, needs: 'ViewRole' },
  { value: 'access-keys', label: 'My access keys', panel: AccessKeysTab },
];

/** Who may do what in the account, and what the person may do with programs. */
export function Page() {
  const can = useCan();
  const { isPending, error } = useQuery(permissionsQuery);
  return (
    <PageLayout title="People" fill>
      <ErrorMessage error={error} />
      {isPending ? (
        <Skeleton lines={8} />
      ) : (
        <PageTabs label="People" tabs={TABS.filter(({ needs }) => needs === undefined || can(needs))} />
      )}
    </PageLayout>
  );
}
