<?php
// Refunds 1.00 of a purchase through the egress: JSON in, JSON out, no session, no cryptography. Needs only PHP 8.0:
//   EGRESS_URL=http://127.0.0.1:8090 EGRESS_TOKEN=… MERCHANT_ID=demo OPERATION_ID=… php docs/examples/refund.php
// To send a refund that the bank does not have again, put the id that was printed before the same line: MERCHANT_REQUEST_ID=…
declare(strict_types=1);

set_exception_handler(function (Throwable $error) { // on one line; an error in the program itself is shown in full
    fwrite(STDERR, ($error instanceof RuntimeException ? preg_replace('/\s+/', ' ', $error->getMessage()) : $error) . "\n");
    exit(1);
});

[$url, $token, $merchant, $operation, $given] = array_map(
    fn ($name) => trim((string) getenv($name)),
    ['EGRESS_URL', 'EGRESS_TOKEN', 'MERCHANT_ID', 'OPERATION_ID', 'MERCHANT_REQUEST_ID'],
);
preg_match('~^https?://~', $url) && preg_match('/^\S+$/', $token)
    || throw new RuntimeException('set EGRESS_URL and EGRESS_TOKEN: the URL begins with http:// or https://, and the token has no line break');
$merchant !== '' || throw new RuntimeException("set MERCHANT_ID: the terminal's id at the bank");
$operation !== '' || throw new RuntimeException('set OPERATION_ID: the operationId of the purchase of which something is given back');
// With these codes the egress says that the bank does not have it, with answer_unopened that it does; with others, nobody knows. docs/egress.md lists them all.
const NOT_SENT = ['unauthenticated', 'route_not_found', 'method_not_allowed', 'invalid_request', 'unsupported_media_type',
    'payload_too_large', 'session_unavailable', 'overloaded', 'shutting_down', 'gateway_unreachable'];
const NO_REFUSAL = ['b_duplicate_field_value', 'b_unknown_error']; // the first says that the bank has a request with this id, the second says nothing
[$id, $none] = $given !== '' ? [$given, 'no refund by this request, while one that was sent before may be there'] : [bin2hex(random_bytes(16)), 'no refund'];
$refund = [
    'merchantRequestId' => $id, 'merchantId' => $merchant, 'operationId' => $operation, 'coinAmount' => 100,
    'date' => gmdate('Y-m-d H:i:s') . '.00+00:00', 'notificationUrl' => trim((string) getenv('NOTIFICATION_URL')), 'notificationEncryption' => true,
];
$context = stream_context_create(['http' => [
    'method' => 'POST', 'content' => json_encode($refund, JSON_THROW_ON_ERROR), 'ignore_errors' => true,
    'header' => ["Authorization: Bearer $token", 'Content-Type: application/json'],
    'follow_location' => 0, // the token is for the egress alone
    'timeout' => 45, // longer than gateway.timeout plus ten seconds
]]);
fwrite(STDERR, "sending the refund $id\n"); // a real program stores it in its database before sending
$findOut = "keep $id: the notification or the bank tells its status, never send it under a new merchantRequestId";
$unknown = fn (string $why) => new RuntimeException("unknown whether the bank has it: $why; $findOut");
$warnings = []; // a TLS failure comes as several warnings
set_error_handler(function ($level, $message) use (&$warnings) { return (bool) $warnings[] = $message; });
$text = file_get_contents("$url/ecom/execute_request/payments/v3/refund", false, $context);
restore_error_handler();
if ($text === false || ($http_response_header[0] ?? '') === '') {
    $why = implode('; ', $warnings) ?: 'it closed the connection';
    throw preg_match('/Connection refused|getaddrinfo|Failed to enable crypto/', $why)
        ? new RuntimeException("$none, for it was not sent: nothing answers at $url (EGRESS_URL) that is trusted: $why")
        : $unknown("no answer of the egress: $why");
}
$status = (int) (explode(' ', $http_response_header[0])[1] ?? 0);
$document = json_decode($text, true);
$said = array_filter(is_array($document) ? $document : [], 'is_string');
$why = implode('; ', array_filter(array_map(fn ($name) => $said[$name] ?? '', ['msgCode', 'msgText', 'code', 'title', 'detail', 'cause'])));
[$msg, $code] = [$said['msgCode'] ?? '', $said['code'] ?? ''];
if ($status === 200 && $msg === '' && ($said['ecomOperationId'] ?? '') !== '' && ($said['status'] ?? '') !== '') {
    exit("refund {$said['ecomOperationId']} is {$said['status']}\n");
}
$isOfEgress = ($said['type'] ?? '') === "urn:session-broker:problem:$code";
if ($isOfEgress && $code === 'answer_unopened') {
    throw new RuntimeException("the bank HAS the refund, but its answer was not opened: $status $why; $findOut");
}
if ($msg === 'b_duplicate_field_value' && $status < 500) {
    throw new RuntimeException("the bank has a request with this id already: $status $why; $findOut");
}
throw $isOfEgress && in_array($code, NOT_SENT, true) || $msg !== '' && !in_array($msg, NO_REFUSAL, true) && $status < 500
    ? new RuntimeException("$none: $status $why")
    : $unknown("$status " . ($why ?: 'that is neither of the bank nor of the egress'));
