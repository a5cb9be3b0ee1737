import type { components } from '@flotilla/client';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { EmptyState, Facts, Section, Skeleton } from '../../ui/page.tsx';
import { PlainTable } from './plain-table.tsx';
import type { ComputerDetail } from './use-computer.ts';

type Schemas = components['schemas'];
type Grouped = Schemas['GroupedHardware'];

/** The hardware of a computer, as it was last reported. */
export function HardwareTab({ computer: { id } }: { computer: ComputerDetail }) {
  const { data, error } = useQuery({
    queryKey: ['computer', id, 'hardware'],
    queryFn: async ({ signal }) => {
      const query = { with_grouped_hardware: true, with_hardware: true };
      return (await client.GET('/computers/{computer_id}', { params: { path: { computer_id: id }, query }, signal }))
        .data;
    },
  });
  if (error) return <ErrorMessage error={error} />;
  if (!data) return <Skeleton lines={8} />;
  const { grouped_hardware: grouped, hardware: devices = [] } = data;
  if (!grouped || devices.length === 0) {
    return <EmptyState title="No hardware was reported">It comes with the computer's next report.</EmptyState>;
  }
  return (
    <>
      <System {...grouped} />
      <Storage storage={grouped.storage} />
      <Devices devices={devices} />
    </>
  );
}

function System({ system, cpu, memory, display }: Grouped) {
  const [first] = cpu;
  return (
    <Section title="System">
      <Facts
        items={[
          ['Vendor', known(system.vendor)],
          ['Model', known(system.model)],
          ['Serial number', known(system.serial)],
          ['Chassis', known(system.chassis)],
          ['Processors', first && `${cpu.length} × ${first.model}`],
          ['Clock speed', first && known(first.clock_speed)],
          ['Architecture', first && known(first.architecture)],
          ['Memory', known(memory.size)],
          ['Display', [known(display.vendor), known(display.model)].filter(Boolean).join(' ')],
          [
            'BIOS',
            [known(system.bios_vendor), known(system.bios_version), known(system.bios_date)].filter(Boolean).join(', '),
          ],
        ]}
      />
    </Section>
  );
}

function Storage({ storage }: Pick<Grouped, 'storage'>) {
  if (typeof storage === 'string' || storage.length === 0) return null;
  const rows = storage.flatMap(({ description, vendor, product, size, partitions }, disk) => [
    {
      key: `${disk}`,
      cells: [description, `${known(vendor) ?? ''} ${known(product) ?? ''}`.trim(), null, known(size)],
    },
    ...partitions.map((partition, index) => ({
      key: `${disk}.${index}`,
      cells: [`└ ${partition.description}`, null, known(partition.filesystem), known(partition.size)],
    })),
  ]);
  return (
    <Section title="Storage">
      <PlainTable label="Storage" head={['Device', 'Product', 'File system', 'Size']} rows={rows} />
    </Section>
  );
}

function Devices({ devices }: { devices: ReadonlyArray<Schemas['HardwareDevice']> }) {
  return (
    <Section title="All devices">
      <PlainTable
        label="All devices"
        head={['Class', 'Device', 'Vendor', 'Product', 'Version', 'Serial number', 'Size']}
        rows={devices.map((device) => ({
          key: String(device.id),
          cells: [
            device.class,
            device.description,
            device.vendor,
            device.product,
            device.version,
            device.serial,
            device.size === null ? null : sizeText(device.size, device.units),
          ],
        }))}
      />
    </Section>
  );
}

/** The API has this text for what was not reported. */
function known(text: string): string | null {
  return text === 'Not available' ? null : text;
}

const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const STEPS = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'];

function sizeText(size: number, units: string | null): string {
  if (units === 'Hz') return `${numbers.format(size / 1e9)} GHz`;
  if (units !== 'bytes') return `${numbers.format(size)} ${units ?? ''}`.trim();
  const step = Math.min(STEPS.length - 1, Math.floor(Math.log2(Math.max(1, size)) / 10));
  return `${numbers.format(size / 1024 ** step)} ${STEPS[step]}B`;
}
