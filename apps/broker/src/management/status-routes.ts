import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BrokerError } from '#libs/errors';
import { merchantConditions } from '#libs/session';
import type { PageFile, Runbook, StatusCondition, StatusPage, StatusSearch } from '#libs/status-page';
import { matchesEtag } from '../sessions/session-answer.js';

/**
 * The page may load only its own files, only from here, and no text ever becomes markup: what a gateway says can be
 * shown, but cannot act.
 */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
} as const;

/** Lists all runbooks. */
const INDEX = 'README.md';

const MOVED = 308;
/** For a page that is not there: the next release may have it. */
const ELSEWHERE = 302;

const MAX_SEARCH_LENGTH = 64;

interface SearchRoute {
  readonly Querystring: Readonly<Record<string, unknown>>;
}

/**
 * `/`, its files below `/status/` and its data at `/status.json`; the runbooks that it refers to, and the pages that
 * those refer to.
 */
export function serveStatus(server: FastifyInstance, page: StatusPage): void {
  for (const file of page.files) {
    const path = file.name === 'index.html' ? '/' : `/status/${file.name}`;
    server.get(path, (request, reply) => sendFile(request, reply, file));
  }
  serveRunbooks(server, page);
  for (const file of page.runbookStyles) {
    server.get(`/runbooks/${file.name}`, (request, reply) => sendFile(request, reply, file));
  }
  for (const file of page.linked) {
    server.get(`/${file.name}`, (request, reply) => sendRunbook(request, reply, file));
  }
  server.get<SearchRoute>('/status.json', (request, reply) => {
    assertOwnPage(request);
    const document = page.report(searchOf(request.query));
    return reply.headers(HEADERS).header('cache-control', 'no-store').send(document);
  });
}

/** The line of a runbook that names its alerts. */
const ALERTS = /^Alerts?: (.+)$/m;

/**
 * Each is also served at its path in the repository, which is how an alert's URL ends, under the short name that
 * `status` prints, and under the names of its alerts.
 */
function serveRunbooks(server: FastifyInstance, { runbooks }: StatusPage): void {
  const lead = (from: string, to: string): void => void server.get(from, (_request, reply) => sendElsewhere(reply, to));
  lead('/runbooks', '/runbooks/');
  lead('/docs/runbooks', '/runbooks/');
  lead('/docs/runbooks/', '/runbooks/');
  for (const file of runbooks) {
    const path = `/runbooks/${file.name}`;
    const paths = file.name === INDEX ? ['/runbooks/', path] : [path];
    for (const one of paths) server.get(one, (request, reply) => sendRunbook(request, reply, file));
    const short = path.replace(/\.md$/, '');
    const alerts = alertsOf(file).map((alert) => `/runbooks/${alert}`);
    for (const one of [short, `/docs${path}`, `/docs${short}`, ...alerts]) lead(one, path);
  }
  server.get('/runbooks/*', (request, reply) => {
    if (!wantsHtml(request)) throw new BrokerError('route_not_found');
    return reply.headers(HEADERS).header('vary', 'accept').redirect('/runbooks/', ELSEWHERE);
  });
}

/** The body helps users of curl, which does not follow redirects by default. */
function sendElsewhere(reply: FastifyReply, to: string): FastifyReply {
  void reply.headers(HEADERS).code(MOVED).header('location', to).type('text/plain; charset=utf-8');
  return reply.send(`It is at ${to}\n`);
}

function alertsOf({ content }: Runbook): readonly string[] {
  const [, line = ''] = ALERTS.exec(content.toString()) ?? [];
  return [...line.matchAll(/`(\w+)`/g)].flatMap(([, alert]) => alert ?? []);
}

/**
 * A browser asks for HTML explicitly; curl and programs accept anything, and get the text, which is readable as well.
 */
function sendRunbook(request: FastifyRequest, reply: FastifyReply, runbook: Runbook): FastifyReply {
  void reply.header('vary', 'accept');
  return sendFile(request, reply, wantsHtml(request) ? (runbook.html ?? runbook) : runbook);
}

const wantsHtml = ({ headers }: FastifyRequest): boolean =>
  headers.accept?.toLowerCase().includes('text/html') === true;

function sendFile(request: FastifyRequest, reply: FastifyReply, file: PageFile): FastifyReply {
  void reply.headers(HEADERS).header('cache-control', 'no-cache').header('etag', file.etag);
  if (matchesEtag(request.headers['if-none-match'], file.etag)) return reply.code(304).send();
  return reply.type(file.contentType).send(file.content);
}

/**
 * A page of another origin can make a browser inside the network send requests here.
 * Browsers reveal that (Fetch Metadata, `Sec-Fetch-Site`); other clients send nothing.
 * @throws BrokerError `forbidden`
 */
function assertOwnPage(request: FastifyRequest): void {
  const site = request.headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new BrokerError('forbidden', { publicDetail: 'asked for by a page of another origin' });
}

/** @throws BrokerError `invalid_request` */
function searchOf(query: Readonly<Record<string, unknown>>): StatusSearch {
  const { search = '', condition = '' } = query;
  if (typeof search !== 'string' || search.length > MAX_SEARCH_LENGTH) {
    throw new BrokerError('invalid_request', {
      publicDetail: `search takes one text of at most ${MAX_SEARCH_LENGTH} characters`,
    });
  }
  if (condition !== '' && !isCondition(condition)) {
    throw new BrokerError('invalid_request', {
      publicDetail: `condition takes one of: ${merchantConditions.join(', ')}`,
    });
  }
  return { text: search.toLowerCase(), ...(condition === '' ? {} : { condition }) };
}

function isCondition(value: unknown): value is StatusCondition {
  return merchantConditions.some((condition) => condition === value);
}
