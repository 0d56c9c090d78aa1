import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core';
import { toolPath } from '#libs/testing';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const axeSource = readFileSync(fileURLToPath(new URL('../node_modules/axe-core/axe.min.js', import.meta.url)), 'utf8');

interface AxeResults {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
  readonly passes: readonly object[];
}

/** A real Chromium with its own profile, started once per test file. */
export async function openBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: toolPath('chromium'),
    args: ARGUMENTS,
    // The defaults are `--headless` and a fresh profile below the folder for temporary files.
    headless: true,
  });
}

interface PageOptions extends BrowserContextOptions {
  /** Gets the page before it is loaded. */
  readonly prepare?: (page: Page) => Promise<void>;
  /** What shows that it is there: merchants by default. */
  readonly ready?: string;
}

/** An open page, and everything it did that a good page does not do. */
export class WatchedPage {
  /** Console errors, exceptions, and refusals by the content security policy. */
  readonly complaints: string[] = [];
  readonly requests: Request[] = [];

  private constructor(readonly page: Page) {
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('request', (request) => this.requests.push(request));
  }

  static async open(browser: Browser, url: string, options: PageOptions = {}): Promise<WatchedPage> {
    const { prepare, ready = '.row', ...more } = options;
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...more });
    const watched = new WatchedPage(await context.newPage());
    watched.page.setDefaultTimeout(60_000);
    await prepare?.(watched.page);
    await watched.page.goto(url);
    await watched.page.locator(ready).first().waitFor();
    return watched;
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }

  row(merchant: string): ReturnType<Page['locator']> {
    return this.page.locator(`.row[data-merchant="${merchant}"]`);
  }

  card(kind: string): ReturnType<Page['locator']> {
    return this.page.locator('.card').filter({ has: this.page.getByText(kind, { exact: true }) });
  }

  /** How much wider the page is than the window. */
  async overflow(): Promise<number> {
    return await this.page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  }

  /** What axe-core finds against WCAG 2.2 AA and good practice, and how many of its rules had something to check. */
  async accessibilityFaults(): Promise<{ faults: string[]; passed: number }> {
    // Evaluated by the debugger, to which the content security policy does not apply.
    await this.page.evaluate(axeSource);
    const results = await this.page.evaluate<AxeResults>('axe.run(document)');
    const faults = results.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
    return { faults, passed: results.passes.length };
  }
}
