import '../styles/tokens.css';
import '../styles/base.css';
import '../ui/ui.css';
import '../styles/forced-colors.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { dropOldKept } from '../ui/drafts/kept.ts';
import { queryClient } from '../api/query-client.ts';
import { repairLanguage } from './locale.ts';
import { router } from './router.tsx';
import { applyTheme } from './theme.ts';

repairLanguage();
applyTheme();
void dropOldKept();
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
