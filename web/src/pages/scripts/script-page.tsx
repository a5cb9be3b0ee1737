import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** Script. */
export function Page() {
  return (
    <PageLayout title="Script">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
