import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';

const GIB = 1_073_741_824;

/** As 2 × AMD EPYC: figures of two kinds are not compared, but through their ratios. */
export function processorInWords(): string {
  const model = cpus()[0]
    ?.model.replaceAll(/\(R\)|\(TM\)|\bProcessor\b/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return `${availableParallelism()} × ${model === undefined || model === '' ? arch() : model}`;
}

/** What ran beside, as the system's load average of a minute. */
export function loadInWords(): string {
  return `load ${(loadavg()[0] ?? Number.NaN).toFixed(1)}`;
}

/** What the figures of a run depend on besides the program: without it they cannot be compared. */
export function machineInWords(): string {
  const memory = `${(totalmem() / GIB).toFixed(0)} GiB of memory`;
  const system = `${platform()} ${release()} ${arch()}, Node.js ${process.versions.node}`;
  return `${processorInWords()}, ${memory}, ${system}, ${loadInWords()}`;
}
