import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** New script. */
export function Page() {
  return (
    <PageLayout title="New script">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
