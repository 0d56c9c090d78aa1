<?php
// Makes an order through the egress: JSON in, JSON out, no session, no cryptography. Needs PHP 8.0 alone:
//   EGRESS_URL=http://127.0.0.1:8090 EGRESS_TOKEN=… MERCHANT_ID=demo php docs/examples/order.php
declare(strict_types=1);

[$url, $token, $merchant] = array_map(fn ($name) => trim((string) getenv($name)), ['EGRESS_URL', 'EGRESS_TOKEN', 'MERCHANT_ID']);
preg_match('~^https?://~', $url) && preg_match('/^\S+$/', $token)
    || throw new RuntimeException('set EGRESS_URL and EGRESS_TOKEN: the URL begins with http:// or https://, and the token has no line break');
$order = [
    'merchantRequestId' => bin2hex(random_bytes(16)), 'merchantId' => $merchant, 'hppPayType' => 'PURCHASE', 'coinAmount' => 12500,
    'paymentMethods' => ['PAN'], 'statusPageType' => 'STATUS_TIMER_PAGE', 'customerData' => ['senderCustomerId' => 'customer-1'],
    'successUrl' => 'https://shop.example/thanks', 'failUrl' => 'https://shop.example/sorry',
];
// Keep the merchantRequestId before you send: what is not known to have failed is asked for, never sent under a new one.
$text = @file_get_contents("$url/ecom/execute_request/hpp/v1/create-order", false, stream_context_create(['http' => [
    'method' => 'POST', 'content' => json_encode($order, JSON_THROW_ON_ERROR), 'ignore_errors' => true,
    'header' => ["Authorization: Bearer $token", 'Content-Type: application/json'],
    'timeout' => 45, // longer than gateway.timeout and ten seconds
]]));
$said = json_decode((string) $text, true);
if (!is_array($said)) {
    throw new RuntimeException("no answer of the egress at $url; ask for the state of order {$order['merchantRequestId']}");
}
if (!isset($said['hppOrderId'])) { // what each code means for a repetition: docs/egress.md
    throw new RuntimeException('no order: ' . ($said['msgCode'] ?? $said['code'] ?? '') . ': ' . ($said['msgText'] ?? $said['title'] ?? ''));
}
echo "order {$said['hppOrderId']} is {$said['orderStatus']}\n";
