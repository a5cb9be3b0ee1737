import type { ReactNode } from 'react';
import { usePageSearch } from '../../url/use-page-search.ts';
import { Dialog } from './dialog.tsx';

/** The form that is open on a page, and what it is about; the URL has both, so that a reload brings it back. */
export function useOpenForm() {
  const { get, set } = usePageSearch();
  return {
    form: get('form'),
    subject: get('subject'),
    open: (form: string, subject?: string | number) => set({ form, subject }, { push: true }),
    close: () => set({ form: undefined, subject: undefined }),
  };
}

/** A dialog that is open while the URL names its form. */
export function FormDialog({ form, title, children }: { form: string; title: ReactNode; children: ReactNode }) {
  const opened = useOpenForm();
  const isOpen = opened.form === form;
  return (
    <Dialog title={title} open={isOpen} onOpenChange={(open) => !open && opened.close()}>
      {isOpen && children}
    </Dialog>
  );
}
