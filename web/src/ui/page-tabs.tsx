import { Tabs } from '@base-ui/react/tabs';
import type { ComponentType } from 'react';
import { usePageSearch } from '../url/use-page-search.ts';

/** A part of a page that is shown by itself. */
export interface PageTab {
  /** In the URL. */
  value: string;
  label: string;
  panel: ComponentType;
  /** The part goes on while another is shown. */
  keepMounted?: boolean;
}

/** Parts of a page of which the URL names the one that is shown (`?tab=`); the first by default. */
export function PageTabs({ label, tabs }: { label: string; tabs: readonly PageTab[] }) {
  const { search, get, set } = usePageSearch();
  const shown = tabs.find(({ value }) => value === get('tab')) ?? tabs[0];
  // The other parameters belong to the tab that is left.
  const others = Object.fromEntries(Object.keys(search).map((name) => [name, undefined]));
  return (
    <Tabs.Root
      className="tabs"
      value={shown?.value ?? null}
      onValueChange={(value: string) => set({ ...others, tab: value }, { push: true })}
    >
      <Tabs.List className="tab-list" aria-label={label}>
        {tabs.map((tab) => (
          <Tabs.Tab key={tab.value} value={tab.value} className="tab">
            {tab.label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ value, panel: Panel, keepMounted }) => (
        <Tabs.Panel key={value} value={value} className="tab-panel" keepMounted={keepMounted}>
          <Panel />
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}
