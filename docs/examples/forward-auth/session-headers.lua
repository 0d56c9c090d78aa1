-- Asks the session broker for the headers of the current session, and leaves them in transaction variables.
local HEADERS_URL = "http://session-broker:8080/v1/merchants/shop/session/headers"
local TIMEOUT_MS = 30000
local token = assert(os.getenv("BROKER_TOKEN"), "BROKER_TOKEN is not set")

local function first(headers, name)
  local values = headers and headers[name]
  return values and values[0]
end

core.register_action("session_headers", { "http-req" }, function(txn)
  local request = { url = HEADERS_URL, headers = { authorization = { "Bearer " .. token } }, timeout = TIMEOUT_MS }
  local answer = core.httpclient():get(request)
  if answer == nil or answer.status ~= 204 then
    txn:set_var("txn.retry_after", first(answer and answer.headers, "retry-after") or "1")
    return
  end
  txn:set_var("txn.api_version", first(answer.headers, "x-api_version"))
  txn:set_var("txn.device_id", first(answer.headers, "x-device_id"))
  txn:set_var("txn.generation", first(answer.headers, "etag"))
  local refresh_token = first(answer.headers, "x-refresh_token")
  if refresh_token ~= nil then txn:set_var("txn.refresh_token", refresh_token) end
end)
