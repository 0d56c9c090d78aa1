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
}

/** An open page, and everything it did that a good page does not do. */
export class WatchedPage {
  readonly page: Page;
  /** Console errors, exceptions, and refusals by the content security policy. */
  readonly complaints: string[] = [];
  readonly requests: Request[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('request', (request) => this.requests.push(request));
  }

  /** The status page, once it shows merchants. */
  static async open(browser: Browser, url: string, options: PageOptions = {}): Promise<WatchedPage> {
    const watched = await WatchedPage.openAny(browser, url, options);
    await watched.page.locator('.row').first().waitFor();
    return watched;
  }

  static async openAny(browser: Browser, url: string, { prepare, ...options }: PageOptions = {}): Promise<WatchedPage> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const watched = new WatchedPage(await context.newPage());
    watched.page.setDefaultTimeout(60_000);
    await prepare?.(watched.page);
    await watched.page.goto(url);
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

  async focused(): Promise<string> {
    return await this.page.evaluate('document.activeElement.textContent');
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
