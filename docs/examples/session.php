<?php
// Reads a session, reports it as dead, waits for the next one, and seals and opens a payload. Needs only PHP 8.0:
//   BROKER_URL=http://127.0.0.1:8080 BROKER_TOKEN=… php docs/examples/session.php, and BROKER_MERCHANT=… for a merchant not named shop
declare(strict_types=1);

[$url, $token] = array_map(fn ($name) => trim((string) getenv($name)), ['BROKER_URL', 'BROKER_TOKEN']);
preg_match('~^https?://~', $url) && preg_match('/^\S+$/', $token)
    || throw new RuntimeException('set BROKER_URL and BROKER_TOKEN: the URL begins with http:// or https://, and the token has no line break');

/** The status and document of an answer. Retries after Retry-After, a minute at most; throws on any other refusal. */
function call(string $path, ?array $body = null, array $headers = [], int $tries = 5): array
{
    $options = ['timeout' => 40, 'ignore_errors' => true, 'follow_location' => 0];
    $options['header'] = ["Authorization: Bearer {$GLOBALS['token']}", 'Content-Type: application/json', ...$headers];
    $options += $body === null ? [] : ['method' => 'POST', 'content' => json_encode($body, JSON_THROW_ON_ERROR)];
    $warnings = []; // a TLS failure comes as several warnings
    set_error_handler(function ($level, $message) use (&$warnings) { return (bool) $warnings[] = $message; });
    $text = file_get_contents("{$GLOBALS['url']}/v1/merchants/" . (getenv('BROKER_MERCHANT') ?: 'shop') . $path, false, stream_context_create(['http' => $options]));
    restore_error_handler();
    if ($text === false) {
        $hint = preg_grep('/wrong version number|HTTP request failed/', $warnings) ? ['is it https:// or http://?'] : [];
        throw new RuntimeException("nothing answers at {$GLOBALS['url']} (BROKER_URL): " . implode('; ', [...$warnings, ...$hint]));
    }
    $status = (int) (explode(' ', $http_response_header[0])[1] ?? 0);
    $document = json_decode($text, true);
    if ($status === 304 && preg_grep('/^If-None-Match/', $headers) || $status === 200 && array_intersect(['generation', 'jwk', 'jwe', 'plaintext'], array_keys((array) $document))) {
        return [$status, $document];
    }
    if (!isset($document['code'], $document['requestId'])) {
        throw new RuntimeException("$path: a $status that is not the broker's: is BROKER_URL right?");
    }
    $why = implode('; ', array_filter([$document['code'], $document['title'] ?? '', $document['detail'] ?? '', $document['cause'] ?? ''])) . " (request {$document['requestId']})";
    $wait = (int) (preg_replace('/\D/', '', implode(preg_grep('/^retry-after:/i', $http_response_header))) ?: '1');
    if (!in_array($status, [429, 503], true) || $tries === 1 || $wait > 60) {
        throw new RuntimeException("$path: $status $why");
    }
    fwrite(STDERR, "waiting $wait s, as the broker asks: $why\n");
    sleep($wait);
    return call($path, $body, $headers, $tries - 1);
}

/** The next session, from requests that the broker holds for up to half a minute. A real program asks again if nothing answers. */
function follow(int $generation): array
{
    while (([$status, $session] = call('/session', null, ["If-None-Match: \"$generation\"", 'Prefer: wait=30'])) && $status === 304);
    return $session;
}

fwrite(STDERR, "reading the session: where there is none yet, the broker answers after 30 s at the latest\n");
[, $session] = call('/session', null, ['Prefer: wait=30']);
$generation = $session['generation'];
echo "generation $generation until {$session['expiresAt']}\n";
echo 'asked again: ', call('/session', null, ["If-None-Match: \"$generation\""])[0], "\n";
$generation -= 1; // As if a call with the previous session had been refused. Report the generation that you used.
[, $newer] = call('/session/rejections', ['generation' => $generation, 'reason' => 'b_expired_token']);
echo 'rejected: newer is ', $newer['generation'] > $generation ? 'yes' : 'no', "\n";
echo 'followed: ', follow($generation)['generation'] === $newer['generation'] ? 'the same' : 'another', "\n";
[, $sealed] = call('/payloads/encrypt', ['plaintext' => 'a payment', 'recipient' => call('/client-key')[1]['jwk']]);
echo 'opened: ', call('/payloads/decrypt', ['jwe' => $sealed['jwe']])[1]['plaintext'], "\n";
