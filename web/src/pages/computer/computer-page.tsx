import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** Computer. */
export function Page() {
  return (
    <PageLayout title="Computer">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
