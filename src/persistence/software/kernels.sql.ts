import type { HotpatchReports, ReportedKernel } from '../../domain/software/kernel.ts';
import { IS_WSL_HOST } from '../computers/computer-columns.ts';
import type { Sql } from '../database/sql.ts';

interface PackageFixes {
  cves: string[];
  name: string;
  /** `YYYY-MM-DD`. */
  release_date: string;
  summary: string;
}

export interface KnownFix extends PackageFixes {
  package_name: string;
  package_version: string;
}

/** Stores known fixes, replacing those of the same versions. Idempotent. */
export async function savePackageFixes(db: Sql, fixes: readonly KnownFix[]): Promise<void> {
  await db.query(SAVE_FIXES, { fixes: JSON.stringify(fixes) });
}

export interface KernelRow extends ReportedKernel {
  fixes: PackageFixes | null;
}

export interface KernelFacts {
  reports: HotpatchReports;
  packagesReported: boolean;
  /** Set when it runs another system's kernel: a container shares its host's, and Windows has no kernel packages. */
  foreignKernel: 'windows' | 'container' | null;
  kernels: KernelRow[];
}

/** Raw reports of a computer about hot patches and restarts; null when there is no such computer. */
export async function readHotpatchReports(db: Sql, computer: number): Promise<HotpatchReports | null> {
  const [row] = await db.query<HotpatchReports>(READ_REPORTS, { computer });
  return row ?? null;
}

/** Reads which kernels a computer has and could have, in two statements. */
export async function readKernelFacts(db: Sql, computer: number): Promise<KernelFacts | null> {
  type Row = HotpatchReports & Pick<KernelFacts, 'packagesReported' | 'foreignKernel'> & Record<string, unknown>;
  const [row] = await db.query<Row>(READ_FACTS, { computer });
  if (!row) return null;
  const { packagesReported, foreignKernel, ...reports } = row;
  const kernels = packagesReported ? await db.query<KernelRow>(READ_KERNELS, { computer }) : [];
  return { reports, packagesReported, foreignKernel, kernels };
}

const SAVE_FIXES = `
  insert into package_fix (package_name, package_version, name, release_date, summary, cves)
  select package_name, package_version, name, release_date, summary, cves
  from jsonb_to_recordset(:fixes::jsonb)
    f(package_name text, package_version text, name text, release_date date, summary text, cves text[])
  on conflict (package_name, package_version) do update set name = excluded.name,
    release_date = excluded.release_date, summary = excluded.summary, cves = excluded.cves`;

const REPORTS = `c.hotpatch_info as "hotpatchInfo", c.distro_pro_reboot_required_info as "rebootRequiredInfo",
    c.reboot_required as "rebootRequired", (
      select s from jsonb_array_elements(
        case when jsonb_typeof(c.distro_pro_info -> 'services') = 'array' then c.distro_pro_info -> 'services' else '[]' end) s
      where s ->> 'name' in ('hotpatch', 'livepatch') limit 1) as "serviceInfo"`;

const READ_REPORTS = `select ${REPORTS} from computer c where c.id = :computer`;

const READ_FACTS = `
  select ${REPORTS}, exists (select from computer_packages p where p.computer_id = c.id) as "packagesReported",
    case when c.is_wsl or coalesce(c.container_info, '') <> '' then 'container'
      when ${IS_WSL_HOST} or lower(c.distribution_info ->> 'distributor') = 'microsoft' then 'windows' end as "foreignKernel"
  from computer c where c.id = :computer`;

// Meta packages only: they name the wanted kernel, while the images behind them change.
const READ_KERNELS = `
  select p.id, p.name, p.version, s.installed @> p.id as installed,
    s.available @> p.id or s.available_upgrades @> p.id as available,
    case when f.name is not null then jsonb_build_object('cves', to_jsonb(f.cves), 'name', f.name,
      'release_date', to_char(f.release_date, 'YYYY-MM-DD'), 'summary', f.summary) end as fixes
  from computer_packages s
  join package p on s.installed @> p.id or s.available @> p.id or s.available_upgrades @> p.id
  left join package_fix f on f.package_name = p.name and f.package_version = p.version
  where s.computer_id = :computer and p.name like 'linux-image-%' and p.name ~ '^linux-image-[a-z]'
    and p.name !~ '^linux-image-(unsigned|extra|dbg|debug)-'`;
