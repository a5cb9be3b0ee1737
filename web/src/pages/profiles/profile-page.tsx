import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** Profile. */
export function Page() {
  return (
    <PageLayout title="Profile">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
