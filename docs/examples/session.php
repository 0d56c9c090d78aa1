<?php
// Reads a session, reports it as dead, follows to the next one, and seals and opens a payload. Needs PHP 8.0 alone:
//   BROKER_URL=http://127.0.0.1:8080 BROKER_TOKEN=… php docs/examples/session.php
declare(strict_types=1);

preg_match('~^https?://~', (string) getenv('BROKER_URL')) && getenv('BROKER_TOKEN')
    || throw new RuntimeException('set BROKER_URL and BROKER_TOKEN: the URL begins with http:// or https://');

/** Status and document of an answer. Comes back after Retry-After, a minute at most; throws for any other refusal. */
function call(string $path, ?array $body = null, array $headers = [], int $tries = 5): array
{
    $lines = ['Authorization: Bearer ' . getenv('BROKER_TOKEN'), ...$headers];
    $options = ['timeout' => 40, 'ignore_errors' => true, 'follow_location' => 0];
    if ($body !== null) {
        $lines[] = 'Content-Type: application/json';
        $options += ['method' => 'POST', 'content' => json_encode($body, JSON_THROW_ON_ERROR)];
    }
    $context = stream_context_create(['http' => $options + ['header' => $lines]]);
    $text = @file_get_contents(getenv('BROKER_URL') . '/v1/merchants/shop' . $path, false, $context);
    if ($text === false) {
        throw new RuntimeException("nothing answers at BROKER_URL: " . error_get_last()['message']);
    }
    $status = (int) explode(' ', $http_response_header[0])[1];
    $document = json_decode($text, true);
    if ($status === 304 || $status === 200 && array_intersect(['generation', 'jwk', 'jwe', 'plaintext'], array_keys((array) $document))) {
        return [$status, $document];
    }
    if (!isset($document['code'], $document['requestId'])) {
        throw new RuntimeException("$path: a $status that is not the broker's: is BROKER_URL right?");
    }
    $wait = (int) (preg_replace('/\D/', '', implode(preg_grep('/^retry-after:/i', $http_response_header))) ?: '1');
    if (!in_array($status, [429, 503], true) || $tries === 1 || $wait > 60) {
        throw new RuntimeException("$path: $status {$document['code']}: " . ($document['detail'] ?? $document['title'] ?? '') . ", request {$document['requestId']}");
    }
    fwrite(STDERR, "waiting $wait s, as the broker asks: {$document['code']}\n");
    sleep($wait);
    return call($path, $body, $headers, $tries - 1);
}

/** The next session as soon as there is one: each request waits at the broker for half a minute. */
function follow(int $generation): array
{
    do {
        [$status, $session] = call('/session', null, ["If-None-Match: \"$generation\"", 'Prefer: wait=30']);
    } while ($status === 304);
    return $session;
}

[, $session] = call('/session', null, ['Prefer: wait=30']);
$generation = $session['generation'];
echo "generation $generation until {$session['expiresAt']}\n";
[$status] = call('/session', null, ["If-None-Match: \"$generation\""]);
echo "asked again: $status\n";
$generation -= 1; // As if a call with the session before this one had been refused. Report the generation that you used.
[, $newer] = call('/session/rejections', ['generation' => $generation, 'reason' => 'b_expired_token']);
echo 'rejected: newer is ', $newer['generation'] > $generation ? 'yes' : 'no', "\n";
echo 'followed: ', follow($generation)['generation'] === $newer['generation'] ? 'the same' : 'another', "\n";
[, $sealed] = call('/payloads/encrypt', ['plaintext' => 'a payment', 'recipient' => call('/client-key')[1]['jwk']]);
echo 'opened: ', call('/payloads/decrypt', ['jwe' => $sealed['jwe']])[1]['plaintext'], "\n";
